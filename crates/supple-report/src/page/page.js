"use strict";
// Values under the pointer, and one method brought forward; the page says everything without this, too.
(() => {
  const names = Array.from(document.querySelectorAll(".method h3"), heading => heading.textContent.trim());
  const tip = document.getElementById("tip");
  const percent = value => (value > 0 ? "+" : value < 0 ? "\u2212" : "") + Math.abs(value).toFixed(1) + "\u202f%";
  for (const svg of document.querySelectorAll("svg[data-plot]")) {
    const data = JSON.parse(svg.dataset.plot);
    const cursor = document.createElementNS("http://www.w3.org/2000/svg", "line");
    cursor.setAttribute("class", "cursor");
    cursor.setAttribute("y1", 12);
    cursor.setAttribute("y2", svg.viewBox.baseVal.height - 34);
    cursor.style.display = "none";
    svg.append(cursor);
    svg.addEventListener("pointermove", event => {
      const box = svg.getBoundingClientRect();
      const x = (event.clientX - box.left) * svg.viewBox.baseVal.width / box.width;
      const end = data.times[data.times.length - 1] || 1;
      const place = time => data.left + (data.right - data.left) * time / end;
      const index = data.times.reduce((best, time, index) => Math.abs(place(time) - x) < Math.abs(place(data.times[best]) - x) ? index : best, 0);
      const at = place(data.times[index]);
      cursor.setAttribute("x1", at);
      cursor.setAttribute("x2", at);
      cursor.style.display = "";
      tip.replaceChildren();
      const head = document.createElement("b");
      head.textContent = data.times[index].toFixed(2) + "\u202fs";
      tip.append(head);
      const rows = data.lines.map((line, method) => [method, line[index]]).filter(row => row[1] !== null);
      rows.sort((a, b) => b[1] - a[1]);
      for (const [method, value] of rows) {
        const row = document.createElement("div");
        const key = document.createElement("i");
        key.className = "key k" + method;
        const number = document.createElement("span");
        number.textContent = percent(value);
        row.append(key, names[method] || "", number);
        tip.append(row);
      }
      tip.hidden = false;
      const left = event.pageX + 18 + tip.offsetWidth > document.documentElement.scrollWidth ? event.pageX - 18 - tip.offsetWidth : event.pageX + 18;
      tip.style.left = Math.max(4, left) + "px";
      tip.style.top = event.pageY + 14 + "px";
    });
    svg.addEventListener("pointerleave", () => { tip.hidden = true; cursor.style.display = "none"; });
  }
  for (const item of document.querySelectorAll(".legend li")) {
    const group = item.closest(".clip");
    const lines = () => group.querySelectorAll(".line.m" + item.dataset.method);
    item.addEventListener("pointerenter", () => { group.classList.add("focused"); lines().forEach(line => line.classList.add("on")); });
    item.addEventListener("pointerleave", () => { group.classList.remove("focused"); lines().forEach(line => line.classList.remove("on")); });
  }
  for (const figure of document.querySelectorAll(".wipe")) {
    const slider = figure.querySelector("input");
    const stack = figure.querySelector(".stack");
    const show = share => { slider.value = share; figure.style.setProperty("--at", share + "%"); };
    slider.hidden = false;
    slider.addEventListener("input", () => show(slider.value));
    const follow = event => {
      const box = stack.getBoundingClientRect();
      show(Math.min(100, Math.max(0, 100 * (event.clientX - box.left) / box.width)));
    };
    stack.style.touchAction = "pan-y";
    stack.addEventListener("pointerdown", event => { stack.setPointerCapture(event.pointerId); follow(event); });
    stack.addEventListener("pointermove", event => { if (event.buttons || event.pointerType === "mouse") follow(event); });
  }
  const large = document.getElementById("large");
  for (const image of document.querySelectorAll(".enlarged img")) {
    image.addEventListener("click", () => {
      large.querySelector("div").replaceChildren(image.closest(".tile").cloneNode(true));
      large.showModal();
    });
  }
  large.addEventListener("click", event => { if (event.target.closest("button") || event.target === large) large.close(); });
  if (navigator.clipboard) {
    for (const button of document.querySelectorAll(".command button")) {
      button.hidden = false;
      button.addEventListener("click", () => {
        const done = () => { button.textContent = "Copied"; setTimeout(() => { button.textContent = "Copy"; }, 1500); };
        navigator.clipboard.writeText(button.parentElement.querySelector("code").textContent).then(done, () => {});
      });
    }
  }
})();
