import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { readWords } from '../../src/cli/envtest/argument-words.ts';
import { readUrl } from '../../src/cli/envtest/etcd-address.ts';
import { toOwnFlags } from '../../src/cli/envtest/suite-server.ts';

const certDir = mkdtempSync(join(tmpdir(), 'pg-apiserver-cert-dir-'));
afterAll(() => rmSync(certDir, { recursive: true, force: true }));

const own = (...args: string[]): string[] => toOwnFlags(readWords(args), 'postgres://of/a');

test('flags of kube-apiserver become those of this server, in each form', () => {
  const dir = `--cert-dir=${certDir}`;
  expect(
    own(
      '--etcd-servers',
      'http://a:1',
      '--etcd-prefix=/x',
      '--v',
      '2',
      '',
      '--profiling',
      '--insecure-port=0',
      dir,
    ),
  ).toEqual([
    ...['--kvstore-servers=postgres://of/a', '--kvstore-prefix=/x', '--v=2', '--profiling', dir],
    ...['--serving-threads=1', '--namespace-objects=false'],
    ...[`--data-dir=${join(certDir, 'pg-apiserver')}`, '--exit-with-parent'],
  ]);
  expect(() => own('--insecure-port=8080')).toThrow('--insecure-port: there is no port without TLS');
});

test('a pair in the directory of certificates serves as it is, unless a flag names another', () => {
  for (const name of ['apiserver.crt', 'apiserver.key']) writeFileSync(join(certDir, name), '');
  const dir = `--cert-dir=${certDir}`;
  expect(own(dir)).toEqual([
    `--tls-cert-file=${join(certDir, 'apiserver.crt')}`,
    `--tls-private-key-file=${join(certDir, 'apiserver.key')}`,
    ...['--serving-threads=1', '--namespace-objects=false'],
    ...[`--data-dir=${join(certDir, 'pg-apiserver')}`, '--exit-with-parent'],
  ]);
  const given = ['--tls-cert-file=a', '--data-dir=d', '--serving-threads=2', '--namespace-objects'];
  expect(own(dir, ...given)).toEqual([dir, ...given, '--exit-with-parent']);
});

test("etcd's address is that of its first URL, which has a port and no TLS", () => {
  expect(readUrl('http://127.0.0.1:2379,http://10.0.0.1:2379').host).toBe('127.0.0.1:2379');
  for (const wrong of ['https://127.0.0.1:2379', 'http://localhost', 'x'])
    expect(() => readUrl(wrong)).toThrow(`--listen-client-urls: ${JSON.stringify(wrong)} is not like`);
});
