"use strict";
// Values under the pointer, and one method brought forward; the page says everything without this,
// too.
(() => {
  const headings = document.querySelectorAll(".method h3");
  const names = Array.from(headings, heading => heading.textContent.trim());
  const tip = document.getElementById("tip");
  const sign = value => value > 0 ? "+" : value < 0 ? "\u2212" : "";
  const percent = value => sign(value) + Math.abs(value).toFixed(1) + "\u202f%";
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
      const away = data.times.map(time => Math.abs(place(time) - x));
      const index = away.indexOf(Math.min(...away));
      const at = place(data.times[index]);
      cursor.setAttribute("x1", at);
      cursor.setAttribute("x2", at);
      cursor.style.display = "";
      tip.replaceChildren();
      const head = document.createElement("b");
      head.textContent = data.times[index].toFixed(2) + "\u202fs";
      tip.append(head);
      const values = data.lines.map((line, method) => [method, line[index]]);
      const rows = values.filter(row => row[1] !== null);
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
      const right = event.pageX + 18;
      const fits = right + tip.offsetWidth <= document.documentElement.scrollWidth;
      const left = fits ? right : event.pageX - 18 - tip.offsetWidth;
      tip.style.left = Math.max(4, left) + "px";
      tip.style.top = event.pageY + 14 + "px";
    });
    svg.addEventListener("pointerleave", () => {
      tip.hidden = true;
      cursor.style.display = "none";
    });
  }
  for (const item of document.querySelectorAll(".legend li")) {
    const group = item.closest(".clip");
    const lines = () => group.querySelectorAll(".line.m" + item.dataset.method);
    const focus = on => {
      group.classList.toggle("focused", on);
      lines().forEach(line => line.classList.toggle("on", on));
    };
    item.addEventListener("pointerenter", () => focus(true));
    item.addEventListener("pointerleave", () => focus(false));
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
    stack.addEventListener("pointerdown", event => {
      stack.setPointerCapture(event.pointerId);
      follow(event);
    });
    stack.addEventListener("pointermove", event => {
      if (event.buttons || event.pointerType === "mouse") follow(event);
    });
  }
  const large = document.getElementById("large");
  for (const image of document.querySelectorAll(".enlarged img")) {
    image.addEventListener("click", () => {
      large.querySelector("div").replaceChildren(image.closest(".tile").cloneNode(true));
      large.showModal();
    });
  }
  large.addEventListener("click", event => {
    if (event.target.closest("button") || event.target === large) large.close();
  });
  if (navigator.clipboard) {
    for (const button of document.querySelectorAll(".command button")) {
      button.hidden = false;
      button.addEventListener("click", () => {
        const done = () => {
          button.textContent = "Copied";
          setTimeout(() => { button.textContent = "Copy"; }, 1500);
        };
        const text = button.parentElement.querySelector("code").textContent;
        navigator.clipboard.writeText(text).then(done, () => {});
      });
    }
  }
})();
