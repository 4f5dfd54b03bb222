import 'reflect-metadata';
import { webcrypto } from 'node:crypto';
import { Pkcs10CertificateRequestGenerator } from '@peculiar/x509';

/** A certificate request for a name, as the field of a CertificateSigningRequest takes it: base64 of PEM. */
export async function makeRequest(name: string): Promise<string> {
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const request = await Pkcs10CertificateRequestGenerator.create(
    { name: `CN=${name}`, keys, signingAlgorithm: algorithm },
    webcrypto,
  );
  return Buffer.from(`${request.toString('pem')}\n`).toString('base64');
}
