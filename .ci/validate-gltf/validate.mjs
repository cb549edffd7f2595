// Fails if a written file has errors that the file it came from does not have.
//
//   node validate.mjs ORIGINAL WRITTEN [ORIGINAL WRITTEN ...]
//   node validate.mjs --pairs LIST      (lines of ORIGINAL, a tab, WRITTEN)
//
// ORIGINAL may be "-": then the written file may have no error at all. Errors are compared by how
// often each code occurs, since writing moves things. Warnings and hints are counted in what is
// printed, and decide nothing.

import { readFile } from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';
import { validateBytes } from 'gltf-validator';

const ERROR = 0;

async function validate(path) {
  const folder = dirname(path);
  const report = await validateBytes(new Uint8Array(await readFile(path)), {
    uri: basename(path),
    maxIssues: 0,
    externalResourceFunction: async (uri) =>
      new Uint8Array(await readFile(resolve(folder, decodeURIComponent(uri)))),
  });
  const errors = report.issues.messages.filter((message) => message.severity === ERROR);
  const byCode = new Map();
  for (const { code } of errors) byCode.set(code, (byCode.get(code) ?? 0) + 1);
  return { errors, byCode, issues: report.issues };
}

async function pairsFromArguments(words) {
  if (words[0] === '--pairs' && words.length === 2) {
    const lines = (await readFile(words[1], 'utf8')).split('\n').filter(Boolean);
    return lines.map((line) => line.split('\t'));
  }
  if (words.length === 0 || words.length % 2 === 1) {
    throw new Error('usage: validate.mjs ORIGINAL WRITTEN ... | --pairs LIST');
  }
  return Array.from({ length: words.length / 2 }, (_, pair) => words.slice(2 * pair, 2 * pair + 2));
}

function totals({ issues }) {
  return `${issues.numErrors} errors, ${issues.numWarnings} warnings, ${issues.numInfos} infos`;
}

let failed = false;
const pairs = await pairsFromArguments(process.argv.slice(2));
const originals = new Map();
for (const [original, written] of pairs) {
  if (original !== '-' && !originals.has(original)) {
    originals.set(original, await validate(original));
  }
  const before = originals.get(original) ?? { byCode: new Map() };
  const after = await validate(written);
  const grown = [...after.byCode].filter(([code, count]) => count > (before.byCode.get(code) ?? 0));
  const was = original === '-' ? '' : ` (was ${totals(before)})`;
  console.log(`${grown.length > 0 ? 'FAIL' : 'ok  '} ${basename(written)}: ${totals(after)}${was}`);
  for (const [code, count] of grown) {
    failed = true;
    console.log(`     ${code}: ${count}, was ${before.byCode.get(code) ?? 0}`);
    const examples = after.errors.filter((message) => message.code === code).slice(0, 3);
    for (const { pointer, message } of examples) console.log(`       ${pointer}: ${message}`);
  }
}
console.log(`${pairs.length} files${failed ? ': there are new errors' : ', no new errors'}`);
process.exitCode = failed ? 1 : 0;
