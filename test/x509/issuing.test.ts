import 'reflect-metadata';
import {
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  webcrypto,
  X509Certificate,
} from 'node:crypto';
import * as x509 from '@peculiar/x509';
import { expect, test } from 'vitest';
import { readCertificate } from '../../src/x509/certificate.ts';
import { readCertificationRequest } from '../../src/x509/certification-request.ts';
import { contextTag, TAG, writeDer } from '../../src/x509/der.ts';
import { issueCertificate, readIssuer } from '../../src/x509/issuing.ts';
import { certificatesIn } from '../../src/x509/pem.ts';
import { makeRequestWithKey } from '../kit/certificate-request.ts';

const HOUR_MS = 3_600_000;
const POLICY = {
  notBeforeMs: Date.now() - HOUR_MS,
  notAfterMs: Date.now() + HOUR_MS,
  usages: ['digital signature', 'client auth'],
};

const KINDS = {
  rsa: {
    algorithm: { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' },
    make: () => generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey,
  },
  ec: {
    algorithm: { name: 'ECDSA', namedCurve: 'P-384', hash: 'SHA-384' },
    make: () => generateKeyPairSync('ec', { namedCurve: 'secp384r1' }).privateKey,
  },
  ed25519: { algorithm: { name: 'Ed25519' }, make: () => generateKeyPairSync('ed25519').privateKey },
};

/** An authority whose name has strings of two types: a chain is found by their bytes. */
async function authority(kind: keyof typeof KINDS, write: (key: KeyObject) => string | Buffer) {
  x509.cryptoProvider.set(webcrypto as unknown as Parameters<typeof x509.cryptoProvider.set>[0]);
  const { algorithm, make } = KINDS[kind];
  const key = make();
  const der = key.export({ type: 'pkcs8', format: 'der' });
  const publicKey = new x509.PublicKey(createPublicKey(key).export({ type: 'spki', format: 'der' }));
  const name = [
    { O: [{ utf8String: 'Zürich' }] },
    { OU: [{ utf8String: 'ops' }] },
    { CN: [{ printableString: 'kubernetes' }] },
  ] as unknown as x509.JsonName;
  const certificate = await x509.X509CertificateGenerator.create({
    subject: name,
    issuer: name,
    publicKey,
    signingKey: await webcrypto.subtle.importKey('pkcs8', der, algorithm, true, ['sign']),
    signingAlgorithm: algorithm,
    extensions: [
      new x509.BasicConstraintsExtension(true, undefined, true),
      await x509.SubjectKeyIdentifierExtension.create(publicKey),
    ],
  });
  return { certificate: `${certificate.toString('pem')}\n`, key: write(key).toString() };
}

const pkcs8 = (key: KeyObject) => key.export({ type: 'pkcs8', format: 'pem' });

async function issue(
  request: string,
  pair: Awaited<ReturnType<typeof authority>>,
  usages: readonly string[] = POLICY.usages,
): Promise<X509Certificate> {
  const issuer = await readIssuer(pair);
  return new X509Certificate(
    await issueCertificate(issuer, readCertificationRequest(request), { ...POLICY, usages }),
  );
}

test.each([
  ['rsa', (key: KeyObject) => key.export({ type: 'pkcs1', format: 'pem' })],
  ['rsa', pkcs8],
  ['ec', (key: KeyObject) => key.export({ type: 'sec1', format: 'pem' })],
  ['ed25519', pkcs8],
] as const)(
  'an authority with a key of type %s signs, and its certificates lead to it',
  async (kind, write) => {
    const pair = await authority(kind, write);
    const { request } = await makeRequestWithKey('O=system:nodes, CN=system:node:a');
    const issued = await issue(request, pair);
    const root = new X509Certificate(pair.certificate);
    expect(issued.verify(root.publicKey) && issued.checkIssued(root)).toBe(true);
    const [der = Buffer.alloc(0)] = certificatesIn(pair.certificate);
    expect(readCertificate(issued.raw).issuer).toEqual(readCertificate(der).subject.raw);
  },
);

test('subject, key and names are those of the request, with every type of string; its other extensions are left out', async () => {
  const pair = await authority('ec', pkcs8);
  const subject = [
    { O: [{ bmpString: 'devs' }], OU: [{ utf8String: 'ö' }] },
    { CN: [{ ia5String: 'jane' }] },
  ] as unknown as x509.JsonName;
  const directory = writeDer(contextTag(4, { constructed: true }), writeDer(TAG.sequence));
  const host = writeDer(contextTag(2, { constructed: false }), Buffer.from('a.example.com'));
  const { request } = await makeRequestWithKey(subject, {
    extensions: [
      new x509.BasicConstraintsExtension(true, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign, true),
      new x509.Extension('2.5.29.17', false, writeDer(TAG.sequence, directory, host)),
      new x509.Extension('1.2.3.4', true, writeDer(TAG.sequence)),
    ],
  });
  const issued = await issue(request, pair, [
    'signing',
    'key encipherment',
    'decipher only',
    's/mime',
    'any',
  ]);
  const asked = readCertificationRequest(request);
  const { subject: written, extensions } = readCertificate(issued.raw);
  expect(written.raw).toEqual(asked.subject.raw);
  expect(issued.publicKey.export({ type: 'spki', format: 'der' })).toEqual(asked.publicKey);
  expect(issued.subjectAltName).toBe('DNS:a.example.com');
  expect(extensions).toMatchObject({
    basicConstraints: { isAuthority: false },
    keyUsage: { signsCertificates: false },
    extendedKeyUsage: ['1.3.6.1.5.5.7.3.4', '2.5.29.37.0'],
    unknownCritical: [],
  });
});

test('usages that the API does not have, and files that are no authority, are refused by name', async () => {
  const pair = await authority('ec', pkcs8);
  const { request } = await makeRequestWithKey('CN=a');
  await expect(issue(request, pair, ['client auth', 'magic'])).rejects.toThrow(
    'unrecognized usage values: ["magic"]',
  );
  const two = { ...pair, certificate: pair.certificate.repeat(2) };
  await expect(readIssuer(two)).rejects.toThrow('an authority has one certificate, and the file holds 2');
  const dh = generateKeyPairSync('x25519').privateKey;
  await expect(readIssuer({ ...pair, key: pkcs8(dh).toString() })).rejects.toThrow(
    'a key of type x25519 cannot sign',
  );
});
