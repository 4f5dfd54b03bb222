import 'reflect-metadata';
import { webcrypto } from 'node:crypto';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as x509 from '@peculiar/x509';

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;

export interface TestPair {
  readonly certFile: string;
  readonly keyFile: string;
  readonly certificate: string;
  readonly key: string;
}

/** A certificate that signs itself, with its key, in files of their own folder. */
export async function selfSigned(commonName: string, names: readonly string[] = []): Promise<TestPair> {
  x509.cryptoProvider.set(webcrypto as unknown as Parameters<typeof x509.cryptoProvider.set>[0]);
  const keys = await webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    name: `CN=${commonName}`,
    keys,
    notBefore: new Date(Date.now() - 60_000),
    notAfter: new Date(Date.now() + 3_600_000),
    signingAlgorithm: ALGORITHM,
    extensions: [
      new x509.SubjectAlternativeNameExtension(names.map((value) => ({ type: 'dns', value }) as const)),
    ],
  });
  const der = await webcrypto.subtle.exportKey('pkcs8', keys.privateKey);
  const folder = mkdtempSync(join(tmpdir(), 'pg-apiserver-pair-'));
  const pair = {
    certFile: join(folder, 'tls.crt'),
    keyFile: join(folder, 'tls.key'),
    certificate: `${certificate.toString('pem')}\n`,
    key: `${x509.PemConverter.encode(der, 'PRIVATE KEY')}\n`,
  };
  writePair(pair, pair);
  return pair;
}

/** Puts another pair where one was, as rotation does. */
export function writePair(
  { certFile, keyFile }: Pick<TestPair, 'certFile' | 'keyFile'>,
  { certificate, key }: Pick<TestPair, 'certificate' | 'key'>,
): void {
  writeFileSync(keyFile, key);
  writeFileSync(certFile, certificate);
}
