import { expect, test } from 'vitest';
import type { Minor } from '../../src/api/emulation.ts';
import { parseCbor } from '../../src/codec/cbor/parse-cbor.ts';
import { createZPage, flagsPage, statusPage } from '../../src/diagnostics/z-pages.ts';
import { parseOptions } from '../../src/options/options.ts';
import { toPageHandler } from '../../src/pages/pages.ts';
import type { ApiRequest } from '../../src/request/api-request.ts';

const status = statusPage({
  startedAt: new Date('2026-02-02T10:00:00Z'),
  now: () => new Date('2026-02-02T11:02:03Z'),
  ...{ runtime: 'node24', binaryVersion: '1.36.0', emulated: '1.36', paths: ['/version', '/flagz'] },
});
const flags = flagsPage({ v: '2', 'bind-address': '0.0.0.0' });

async function ask(page: typeof status, minor: Minor, accept?: string, cbor = false) {
  const request = {
    ...{ method: 'GET', path: `/${page.name}`, query: new URLSearchParams('pretty=0'), userAgent: '' },
    headers: accept === undefined ? {} : { accept },
    signal: new AbortController().signal,
  } as unknown as ApiRequest;
  const answer = await toPageHandler(createZPage(page, { minor, cbor }))(request);
  if (answer?.kind !== 'bytes') throw new Error('no answer');
  const text = Buffer.concat(answer.chunks).toString();
  return {
    ...answer,
    text,
    bytes: Buffer.concat(answer.chunks),
    headers: answer.headers as Record<string, string>,
  };
}

test('people read the flags and the state of the server as text, in every version', async () => {
  for (const minor of [32, 36] as const)
    for (const accept of [undefined, 'text/plain', '*/*', 'application/json, text/plain;q=0.5'])
      expect((await ask(flags, minor, accept)).text).toMatch(
        /^\napiserver flagz\nWarning: .*\n\nbind-address=0\.0\.0\.0\nv=2\n$/,
      );
  const { text, contentType } = await ask(status, 32);
  expect(contentType).toBe('text/plain; charset=utf-8');
  expect(text).toContain('Up: 1 hr 02 min 03 sec\n');
  expect(text).toContain('Paths: /flagz /version\n');
});

const structured = (kind: string, version: string, type = 'application/json'): string =>
  `${type};as=${kind};g=config.k8s.io;v=${version}`;

test('programs read them in v1beta1 since 1.36, and in v1alpha1 since 1.35', async () => {
  const found = await ask(status, 36, `${structured('Statusz', 'v1beta1')}, text/plain`);
  expect(found.contentType).toBe('application/json;g=config.k8s.io;v=v1beta1;as=Statusz');
  expect(found.headers.warning).toBeUndefined();
  expect(JSON.parse(found.text)).toEqual({
    kind: 'Statusz',
    apiVersion: 'config.k8s.io/v1beta1',
    metadata: { name: 'apiserver' },
    startTime: '2026-02-02T10:00:00Z',
    uptimeSeconds: 3723,
    goVersion: 'node24',
    binaryVersion: '1.36.0',
    emulationVersion: '1.36',
    paths: ['/flagz', '/version'],
  });
  const yaml = await ask(flags, 36, structured('Flagz', 'v1beta1', 'application/yaml'));
  expect(yaml.text).toContain('bind-address: 0.0.0.0');
  expect((await ask(flags, 35, structured('Flagz', 'v1alpha1'))).headers.warning).toBeUndefined();
  expect((await ask(flags, 36, structured('Flagz', 'v1alpha1'))).headers.warning).toContain(
    'This version of the flagz endpoint is deprecated',
  );
});

test('programs read them as CBOR where the server speaks it', async () => {
  const accept = structured('Flagz', 'v1beta1', 'application/cbor');
  const { bytes, contentType } = await ask(flags, 36, accept, true);
  expect(contentType).toBe('application/cbor;g=config.k8s.io;v=v1beta1;as=Flagz');
  expect(parseCbor(bytes).value).toMatchObject({ kind: 'Flagz', flags: { v: '2' } });
  await expect(ask(flags, 36, accept)).rejects.toMatchObject({
    status: { message: expect.stringContaining(': application/json, application/yaml, text/plain') },
  });
});

test.each([
  [36, 'application/json'],
  [36, structured('Flagz', 'v1')],
  [36, structured('Statusz', 'v1beta1')],
  [35, structured('Flagz', 'v1beta1')],
  [34, structured('Flagz', 'v1alpha1')],
  [36, 'application/vnd.kubernetes.protobuf'],
] as const)('1.%i does not have the flags as %s', async (minor, accept) => {
  await expect(ask(flags, minor, accept)).rejects.toMatchObject({ status: { code: 406 } });
});

test('the page has every flag, its default where it was not given, and no password', () => {
  const given = parseOptions(
    ['--kvstore-servers=postgres://me:secret@db/x', '-v=4', '--domains=k8s.io'].slice(0, 2),
  );
  expect(given.flags).toMatchObject({ v: '4', 'bind-address': '0.0.0.0', profiling: 'true' });
  expect(given.flags['kvstore-servers']).not.toContain('secret');
  expect(given.flags['service-account-key-file']).toBe('[TLS private key file]');
});
