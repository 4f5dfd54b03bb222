import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const PROJECT = new URL('../../', import.meta.url);
const MAIN = fileURLToPath(new URL('dist/main.js', PROJECT));
const read = (path: string): string => readFileSync(new URL(path, PROJECT), 'utf8');

const oldest = /(?<=>=)\d+\.\d+$/.exec(JSON.parse(read('package.json')).engines.node)?.[0];

function startOn(version: string): { status: number | null; stdout: string; stderr: string } {
  const versions = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${version}' } })`;
  const preload = `--import=data:text/javascript,${encodeURIComponent(versions)}`;
  return spawnSync(process.execPath, [preload, MAIN, '--version'], { encoding: 'utf8' });
}

test('a Node.js that is too old gets a message of one line', () => {
  for (const version of ['12.22.0', '20.20.2', '21.99.0', '22.0.0', '22.14.0']) {
    expect(startOn(version)).toMatchObject({
      status: 1,
      stdout: '',
      stderr: `pg-apiserver: this is Node.js ${version}, and ${oldest} or newer is needed: install that from https://nodejs.org, or run npm start in a checkout, which brings its own\n`,
    });
  }
  for (const version of [`${oldest}.0`, '23.0.0'])
    expect(startOn(version)).toMatchObject({ status: 0, stderr: '' });
});

test('the packages that the server needs run on the oldest Node.js that it names', () => {
  const { packages } = JSON.parse(read('package-lock.json'));
  const { dependencies, optionalDependencies } = packages[''];
  for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) {
    const { engines } = packages[`node_modules/${name}`];
    const [, least = '0.0'] = />=(\d+(?:\.\d+)?)/.exec(engines?.node ?? '') ?? [];
    const [major = 0, minor = 0] = least.split('.').map(Number);
    expect(major * 1000 + minor, name).toBeLessThanOrEqual(22_015);
  }
});

test('what an old Node.js reads first it can read', () => {
  const code = read('dist/main.js').replace(/\/\*[\s\S]*?\*\/|\/\/[^\n]*/g, '');
  expect(code).not.toMatch(/^\s*import\b(?!\()|\bawait\b|\?\.|\?\?|#\w+\s*[(=;]/m);
  expect(code).toContain("import('./cli/entry.js')");
});

test('README and package.json agree on which Node.js runs the server', () => {
  expect(read('README.md')).toContain(`Node.js ${oldest} or newer`);
});

test('a command ends in silence when what reads it has ended', () => {
  for (const [args, code] of [
    ['help', 141],
    ['alerts', 141],
    ['--version', 0],
  ] as const)
    expect(
      spawnSync('sh', ['-c', `{ '${process.execPath}' '${MAIN}' ${args}; echo $? >&2; } | true`], {
        encoding: 'utf8',
      }),
    ).toMatchObject({ stderr: `${code}\n` });
});

test.runIf(process.platform === 'linux')('a command says that there is no room for its output', () => {
  const run = (args: string): object =>
    spawnSync('sh', ['-c', `'${process.execPath}' '${MAIN}' ${args}`], { encoding: 'utf8' });
  expect(run('help >/dev/full')).toMatchObject({
    status: 1,
    stderr: 'pg-apiserver: the output could not be written: ENOSPC: no space left on device, write\n',
  });
  expect(run('start --secure-port=x >/dev/full 2>/dev/full')).toMatchObject({ status: 2 });
});
