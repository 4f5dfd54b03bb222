// `npm test`: installs what is missing, builds, and runs everything; `npm test -- test/some.test.ts` runs only that.
import { handOver, installPackages, root, run, tell } from '../src/cli/install.mjs';

process.chdir(root);
const chosen = process.argv.slice(2);
installPackages();
const steps = chosen.length === 0 ? ['check-types', 'build', 'typecheck', 'lint'] : ['build'];
for (const step of steps) {
  tell(step);
  run('npm', ['run', '--silent', step], { silent: false });
}
handOver('vitest', ['run', '--config', 'test/vitest.config.ts', ...chosen]);
