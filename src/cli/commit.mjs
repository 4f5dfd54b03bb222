// A step of the build: notes the commit and the time for --version and /version. An image is built without a repository; SOURCE_COMMIT names the commit there.
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const git = (...args) => spawnSync('git', args, { cwd: root, encoding: 'utf8' });

/** Empty where the folder is not a repository of its own: a parent's commit would say nothing of these files. */
function describeCommit() {
  const { status, stdout } = git('rev-parse', '--show-prefix');
  if (status !== 0 || stdout.trim() !== '') return process.env.SOURCE_COMMIT ?? '';
  return git('describe', '--always', '--dirty', '--exclude=*', '--abbrev=12').stdout.trim();
}

mkdirSync(join(root, 'dist'), { recursive: true });
/** SOURCE_DATE_EPOCH, in seconds, is the time of a build that others can repeat (reproducible-builds.org). */
const seconds = Number(process.env.SOURCE_DATE_EPOCH ?? Math.floor(Date.now() / 1000));
const date = new Date(seconds * 1000).toISOString().replace('.000Z', 'Z');
writeFileSync(join(root, 'dist', 'commit.txt'), `${describeCommit()}\n${date}\n`);
