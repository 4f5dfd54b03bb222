import 'reflect-metadata';
import { webcrypto } from 'node:crypto';
import { Extension, type JsonName, Pkcs10CertificateRequestGenerator } from '@peculiar/x509';
import { expect, test } from 'vitest';
import { readCertificationRequest } from '../../src/x509/certification-request.ts';
import { contextTag, TAG, writeDer } from '../../src/x509/der.ts';
import { makeRequestWithKey } from '../kit/certificate-request.ts';

const ECDSA = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const RSA = { modulusLength: 2048, publicExponent: new Uint8Array([1, 0, 1]), hash: 'SHA-256' };

async function pemOf(
  name: string | JsonName,
  algorithm: { name: string; saltLength?: number } = ECDSA,
): Promise<string> {
  const keys = (await webcrypto.subtle.generateKey(algorithm, true, [
    'sign',
    'verify',
  ])) as webcrypto.CryptoKeyPair;
  const request = await Pkcs10CertificateRequestGenerator.create(
    { name, keys, signingAlgorithm: algorithm } as never,
    webcrypto as never,
  );
  return `${request.toString('pem')}\n`;
}

const encode = (pem: string): string => Buffer.from(pem).toString('base64');
const read = (pem: string) => readCertificationRequest(encode(pem));

test('the first block is the request, and all readers get the same one', async () => {
  const [harmless, masters] = [await pemOf('CN=harmless'), await pemOf('CN=x, O=system:masters')];
  const field = encode(harmless + masters);
  expect(readCertificationRequest(field).subject.commonName).toBe('harmless');
  expect(readCertificationRequest(field)).toBe(readCertificationRequest(field));
  expect(read(masters + harmless).subject.organizations).toEqual(['system:masters']);
});

test('a block of another type in front is refused, not passed over', async () => {
  const other = (await pemOf('CN=x')).replaceAll('CERTIFICATE REQUEST', 'NEW CERTIFICATE REQUEST');
  const why = 'PEM block type must be CERTIFICATE REQUEST';
  expect(() => read(other)).toThrow(why);
  expect(() => readCertificationRequest(encode(`${other}${other}`))).toThrow(why);
  expect(() => read('')).toThrow(why);
});

test('every organization is read, however its text is written, and the last common name', async () => {
  // The types of the library know plain strings alone; it writes every value that it gets.
  const name = [
    { CN: ['first'] },
    { O: [{ utf8String: 'a+b, c\\d' }] },
    { O: [{ bmpString: 'system:masters' }] },
    { O: [{ ia5String: 'ia5' }], CN: [{ printableString: 'bob' }] },
    { CN: [{ utf8String: 'bob+ops@example.com' }] },
  ];
  expect(read(await pemOf(name as unknown as JsonName)).subject).toMatchObject({
    commonName: 'bob+ops@example.com',
    organizations: ['a+b, c\\d', 'system:masters', 'ia5'],
  });
});

test.each([
  ['ECDSA', ECDSA],
  ['RSA', { name: 'RSASSA-PKCS1-v1_5', ...RSA }],
  ['RSA-PSS', { name: 'RSA-PSS', saltLength: 32, ...RSA }],
  ['Ed25519', { name: 'Ed25519' }],
])("a request signed with %s is known to be its key's, and a changed one is not", async (_, algorithm) => {
  const pem = await pemOf('CN=aaaaaaaa', algorithm);
  expect(read(pem).signatureProblem).toBeUndefined();
  const der = Buffer.from(pem.replace(/-----[^-]+-----/g, ''), 'base64');
  der.write('b', der.indexOf('aaaaaaaa'));
  const changed = `-----BEGIN CERTIFICATE REQUEST-----\n${der.toString('base64')}\n-----END CERTIFICATE REQUEST-----\n`;
  expect(read(changed).signatureProblem).toMatch(/verification (error|failure)/);
});

test('bytes after the request, inside its block, are refused', async () => {
  const der = Buffer.from((await pemOf('CN=x')).replace(/-----[^-]+-----/g, ''), 'base64');
  const longer = Buffer.concat([der, Buffer.from([5, 0])]).toString('base64');
  const pem = `-----BEGIN CERTIFICATE REQUEST-----\n${longer}\n-----END CERTIFICATE REQUEST-----\n`;
  expect(() => read(pem)).toThrow('not a PKCS#10 certification request');
});

test('names are read from the requested extensions, of known kinds only', async () => {
  const directory = writeDer(contextTag(4, { constructed: true }), writeDer(TAG.sequence));
  const host = writeDer(contextTag(2, { constructed: false }), Buffer.from('a.example.com'));
  const address = writeDer(contextTag(7, { constructed: false }), Buffer.from([192, 0, 2, 1]));
  const { request } = await makeRequestWithKey('CN=a', {
    extensions: [
      new Extension('2.5.29.17', true, writeDer(TAG.sequence, directory, host, address)),
      new Extension('1.2.3.4', false, Buffer.alloc(3)),
    ],
  });
  const { names } = readCertificationRequest(request);
  expect(names.map(({ kind, bytes }) => [kind, bytes.toString('latin1')])).toEqual([
    ['dns', 'a.example.com'],
    ['ip', '\xc0\x00\x02\x01'],
  ]);
  expect(readCertificationRequest((await makeRequestWithKey('CN=a')).request).names).toEqual([]);
});

test.each([
  ['an address of three bytes', [['2.5.29.17', writeDer(TAG.sequence, writeDer(0x87, Buffer.alloc(3)))]]],
  ['a host that is not ASCII', [['2.5.29.17', writeDer(TAG.sequence, writeDer(0x82, Buffer.from('ö')))]]],
  ['names that are no list', [['2.5.29.17', Buffer.from([1, 2, 3])]]],
  [
    'one extension twice',
    [
      ['2.5.29.17', writeDer(TAG.sequence)],
      ['2.5.29.17', writeDer(TAG.sequence)],
    ],
  ],
] as const)('a request with %s is refused', async (_, given) => {
  const extensions = given.map(([id, value]) => new Extension(id, false, value));
  const { request } = await makeRequestWithKey('CN=a', { extensions });
  expect(() => readCertificationRequest(request)).toThrow('not a PKCS#10 certification request');
});
