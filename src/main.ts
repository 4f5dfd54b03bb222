#!/usr/bin/env node
// Kept to what any Node.js can read, because one that is too old would else end in a SyntaxError: no import but this last one,
// and nothing newer than it.

/** As `engines` in package.json has it. */
const OLDEST = 22;

if (Number(process.versions.node.split('.')[0]) < OLDEST) {
  process.stderr.write(
    `pg-apiserver: this is Node.js ${process.versions.node}, and ${OLDEST} or newer is needed; npm start brings its own\n`,
  );
  process.exitCode = 1;
} else {
  import('./cli/entry.ts');
}
