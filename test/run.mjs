// `npm test`: installs what is missing, builds, and runs all tests that take a short time. `npm run test:all` runs the long ones too,
// and so does `npm test -- test/some.test.ts`, of that file.
import { handOver, installPackages, root, run, tell } from '../src/cli/install.mjs';

process.chdir(root);
const isAll = process.argv[2] === 'all';
const chosen = process.argv.slice(isAll ? 3 : 2);
await installPackages();
const steps = chosen.length === 0 ? ['check-types', 'build', 'typecheck', 'lint'] : ['build'];
for (const step of steps) {
  tell(step);
  run('npm', ['run', '--silent', step]);
}
const selection = isAll || chosen.length > 0 ? chosen : ['--tags-filter=!long'];
handOver('vitest', ['run', '--config', 'test/vitest.config.ts', ...selection]);
