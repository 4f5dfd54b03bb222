import { X509Certificate } from 'node:crypto';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { clusterSigning, validity } from '../../../src/controllers/joining/signing.ts';
import { makeRequestWithKey } from '../../kit/certificate-request.ts';
import { Authority } from '../../kit/pki.ts';
import { actOn } from './kit.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const NOW = Date.parse('2026-02-02T00:00:00Z');
const APPROVED = { conditions: [{ type: 'Approved', status: 'True' }] };
const CLIENT = { signerName: 'kubernetes.io/kube-apiserver-client', usages: ['client auth'] };

const folder = mkdtempSync(join(tmpdir(), 'pg-apiserver-signing-'));

/** An authority in files that is valid until then. */
async function authority(notAfterMs = NOW + 365 * DAY_MS) {
  const notBefore = new Date(NOW - 400 * DAY_MS);
  const { cert, key } = await Authority.createPair('ca', { notBefore, notAfter: new Date(notAfterMs) });
  const files = { certFile: join(folder, `${notAfterMs}.crt`), keyFile: join(folder, `${notAfterMs}.key`) };
  writeFileSync(files.certFile, cert);
  writeFileSync(files.keyFile, key);
  return files;
}

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const { cert: issued } = await Authority.createPair('issued');

interface Asked {
  readonly spec?: Parameters<typeof actOn>[1];
  readonly request?: string;
  readonly status?: Parameters<typeof actOn>[2];
  readonly files?: { readonly certFile: string; readonly keyFile: string };
}

async function sign({ spec = CLIENT, request, status = APPROVED, files }: Asked) {
  const troubles: string[] = [];
  const options = { ...(files ?? (await authority())), durationMs: 90 * DAY_MS };
  const rule = clusterSigning(options, {
    now: () => new Date(NOW),
    onTrouble: (trouble) => troubles.push(trouble),
  });
  const pem = request ?? (await makeRequestWithKey('CN=jane')).request;
  const { status: written, ...rest } = await actOn(rule, { ...spec, request: pem }, status);
  const certificate =
    written.certificate === undefined
      ? undefined
      : new X509Certificate(Buffer.from(written.certificate ?? '', 'base64'));
  const failure = (written.conditions ?? []).find(({ type }) => type === 'Failed');
  return { ...rest, certificate, failure, troubles };
}

test('a certificate is valid for the flag’s time, for the time that was asked for, and never beyond its authority', async () => {
  const endMs = async (asked: Asked) => (await sign(asked)).certificate?.validToDate.getTime();
  const asking = (expirationSeconds: number) => ({ ...CLIENT, expirationSeconds });
  const backdate = 300_000;
  expect(await endMs({})).toBe(NOW + 90 * DAY_MS - backdate);
  expect(await endMs({ spec: asking(3600) })).toBe(NOW + HOUR_MS);
  expect(await endMs({ spec: asking(8 * 3600) })).toBe(NOW + 8 * HOUR_MS - backdate);
  expect(await endMs({ spec: asking(900 * 86_400) })).toBe(NOW + 90 * DAY_MS - backdate);
  expect(await endMs({ files: await authority(NOW + HOUR_MS) })).toBe(NOW + HOUR_MS);
  expect(validity(NOW, HOUR_MS, Number.MAX_VALUE).notBeforeMs).toBe(NOW - backdate);
});

test('an expired or unreadable authority signs nothing, and the request waits for another', async () => {
  const expired = await sign({ files: await authority(NOW - 1000) });
  expect(expired).toMatchObject({ certificate: undefined, failure: undefined, againMs: 30_000, commits: 0 });
  expect(expired.troubles).toEqual([expect.stringMatching(/^r: the signing certificate .* has expired$/)]);
  const absent = await sign({ files: { certFile: '/none', keyFile: '/none' } });
  expect(absent).toMatchObject({ certificate: undefined, failure: undefined, againMs: 30_000, commits: 0 });
  expect(absent.troubles[0]).toContain('ENOENT');
});

test.each<[string, Asked]>([
  ['undecided', { status: {} }],
  ['denied', { status: { conditions: [{ type: 'Denied', status: 'True' }] } }],
  ['failed', { status: { conditions: [...APPROVED.conditions, { type: 'Failed', status: 'True' }] } }],
  ['issued', { status: { ...APPROVED, certificate: base64(issued) } }],
  ['of another signer', { spec: { ...CLIENT, signerName: 'example.com/mine' } }],
])('a request that is %s is left alone', async (_, asked) => {
  expect(await sign(asked)).toMatchObject({ isDue: false, commits: 0 });
});

const pem = (text: string): string =>
  base64(`-----BEGIN CERTIFICATE REQUEST-----\n${text}\n-----END CERTIFICATE REQUEST-----\n`);

test('a stored request that cannot be read, or was not signed with its key, is reported and not signed', async () => {
  const { request } = await makeRequestWithKey('CN=jane');
  const text = Buffer.from(request, 'base64').toString();
  const der = Buffer.from(text.replaceAll(/-----.*-----|\s/g, ''), 'base64');
  der[der.length - 1] = (der.at(-1) ?? 0) ^ 1;
  for (const [wrong, why] of [
    ['', 'PEM block type must be CERTIFICATE REQUEST'],
    [pem('AAAA'), 'not a PKCS#10 certification request'],
    [pem('===='), 'PEM block type must be CERTIFICATE REQUEST'],
    [pem(der.toString('base64')), 'x509: ECDSA verification failure'],
  ] as const) {
    const { certificate, commits, troubles } = await sign({ request: wrong });
    expect({ certificate, commits }).toEqual({ certificate: undefined, commits: 0 });
    expect(troubles).toEqual([expect.stringContaining(why)]);
  }
});

test('a request for very many names fails, for every signer', async () => {
  const names = (count: number) =>
    Array.from({ length: count }, (_, at) => ({ type: 'dns', value: `host-${at}` }) as const);
  const of = async (count: number) =>
    sign({ request: (await makeRequestWithKey('CN=many', { names: names(count) })).request });
  expect((await of(1000)).certificate?.subjectAltName?.split(', ')).toHaveLength(1000);
  expect((await of(1001)).failure?.message).toBe('more than 1000 subjectAltNames are not allowed');
});

const NODE = 'O=system:nodes, CN=system:node:a';
const KUBELET = {
  signerName: 'kubernetes.io/kube-apiserver-client-kubelet',
  usages: ['key encipherment', 'digital signature', 'client auth'],
};
const SERVING = {
  signerName: 'kubernetes.io/kubelet-serving',
  usages: ['key encipherment', 'digital signature', 'server auth'],
};
const dns = { names: [{ type: 'dns', value: 'a' }] } as const;
const ip = { names: [{ type: 'ip', value: '192.0.2.1' }] } as const;
const email = { names: [...dns.names, { type: 'email', value: 'a@b' }] } as const;
const uri = { names: [...ip.names, { type: 'url', value: 'https://a/b' }] } as const;

test.each([
  [KUBELET, NODE, {}, undefined],
  [KUBELET, 'CN=system:node:a', {}, 'subject organization is not system:nodes'],
  [KUBELET, 'O=system:nodes, CN=a', {}, 'subject common name does not begin with system:node:'],
  [KUBELET, NODE, dns, 'DNS subjectAltNames are not allowed'],
  [KUBELET, NODE, ip, 'IP subjectAltNames are not allowed'],
  [KUBELET, NODE, { names: email.names.slice(1) }, 'Email subjectAltNames are not allowed'],
  [KUBELET, NODE, { names: uri.names.slice(1) }, 'URI subjectAltNames are not allowed'],
  [
    { ...KUBELET, usages: ['client auth'] },
    NODE,
    {},
    'usages did not match [client auth digital signature key encipherment]',
  ],
  [SERVING, NODE, dns, undefined],
  [{ ...SERVING, usages: SERVING.usages.slice(1) }, NODE, ip, undefined],
  [SERVING, NODE, {}, 'DNS or IP subjectAltName is required'],
  [SERVING, NODE, email, 'Email subjectAltNames are not allowed'],
  [SERVING, NODE, uri, 'URI subjectAltNames are not allowed'],
  [SERVING, 'O=system:masters, CN=system:node:a', dns, 'subject organization is not system:nodes'],
  [SERVING, 'O=system:nodes, CN=a', dns, 'subject common name does not begin with system:node:'],
  [
    { ...SERVING, usages: [...SERVING.usages, 'client auth'] },
    NODE,
    dns,
    'usages did not match [digital signature key encipherment server auth]',
  ],
  [CLIENT, 'O=devs, CN=jane', email, undefined],
  [
    { ...CLIENT, usages: ['digital signature'] },
    'CN=jane',
    {},
    'missing required usage for client certificate: client auth',
  ],
  [{ ...CLIENT, usages: ['cert sign'] }, 'CN=jane', {}, 'invalid usage for client certificate: cert sign'],
  [
    { signerName: 'kubernetes.io/legacy-unknown', usages: ['server auth', 'cert sign'] },
    'CN=x',
    uri,
    undefined,
  ],
])('%j for %s with %j: %s', async (spec, subject, options, refusal) => {
  const { request } = await makeRequestWithKey(subject, options);
  const { certificate, failure } = await sign({ spec, request });
  expect(failure?.message).toBe(refusal);
  expect(certificate === undefined).toBe(refusal !== undefined);
  if (certificate !== undefined) expect(certificate.ca).toBe(false);
});
