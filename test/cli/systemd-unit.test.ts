import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { formatUnit, quote } from '../../src/cli/systemd-unit.ts';

const PROGRAM = {
  node: process.execPath,
  main: fileURLToPath(new URL('../../dist/main.js', import.meta.url)),
};
const SAFE = '--authorization-mode=Node,RBAC';
const URL_WITHOUT_PASSWORD = '--kvstore-servers=postgres://server@db:5432/cluster?sslmode=verify-full';

const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0;

function verify(unit: string): { status: number | null; said: string } {
  const folder = mkdtempSync(join(tmpdir(), 'pg-apiserver-unit-'));
  try {
    const path = join(folder, 'pg-apiserver.service');
    writeFileSync(path, unit);
    const { status, stdout, stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', path], {
      encoding: 'utf8',
    });
    const said = `${stdout}${stderr}`.split('\n').filter((line) => line.includes('pg-apiserver.service'));
    return { status, said: said.join('\n') };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

test.runIf(hasSystemd)('systemd takes the unit without a word', () => {
  for (const flags of [[SAFE], [SAFE, URL_WITHOUT_PASSWORD, '--audit-log-path=/var/log/a b/$x/100%.log']])
    expect(verify(formatUnit(flags, PROGRAM))).toEqual({ status: 0, said: '' });
});

test('the unit starts the program with the flags, and reads passwords from a file where there is a database', () => {
  const unit = formatUnit([SAFE, URL_WITHOUT_PASSWORD], PROGRAM);
  expect(unit).toContain(
    `ExecStart=${PROGRAM.node} ${PROGRAM.main} --data-dir=/var/lib/pg-apiserver ${SAFE} ${URL_WITHOUT_PASSWORD}\n`,
  );
  expect(unit).toContain('LoadCredential=pgpass:/etc/pg-apiserver/pgpass\n');
  expect(formatUnit([SAFE], PROGRAM)).not.toContain('pgpass');
});

test.each([
  [[], '--authorization-mode is not given'],
  [[SAFE, '--kvstore-servers=postgres://server:secret@db/cluster'], 'leave the password out'],
  [[SAFE, '--data-dir=/data'], '--data-dir: leave it out'],
  [[SAFE, '--secure-prot=1'], 'did you mean --secure-port?'],
])('%j makes no unit', (flags, message) => {
  expect(() => formatUnit(flags, PROGRAM)).toThrow(message);
  expect(() => formatUnit(flags, PROGRAM)).not.toThrow('secret@');
});

test('systemd reads each word as it was given', () => {
  expect(quote('--a=b')).toBe('--a=b');
  expect(quote('--a=50% of $5')).toBe('"--a=50%% of $$5"');
  expect(quote('--a="b\\c"')).toBe('"--a=\\"b\\\\c\\""');
});

test('the unit has started when the server says that it serves, and starts it again when it no longer does', () => {
  const unit = formatUnit([SAFE], PROGRAM);
  for (const line of ['Type=notify', 'NotifyAccess=all', 'TimeoutStartSec=infinity', 'WatchdogSec=60s'])
    expect(unit).toContain(`\n${line}\n`);
});
