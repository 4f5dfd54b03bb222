import 'reflect-metadata';
import { webcrypto } from 'node:crypto';
import {
  type Extension,
  type JsonGeneralName,
  type JsonName,
  PemConverter,
  Pkcs10CertificateRequestGenerator,
  SubjectAlternativeNameExtension,
} from '@peculiar/x509';

/** A request as the field of a CertificateSigningRequest takes it, base64 of PEM, and its key in PEM form. */
export interface RequestWithKey {
  readonly request: string;
  readonly key: string;
}

interface RequestOptions {
  readonly names?: readonly JsonGeneralName[];
  readonly extensions?: readonly Extension[];
}

/** A certificate request for a subject, such as `CN=jane, O=devs`. */
export async function makeRequestWithKey(
  subject: string | JsonName,
  { names = [], extensions = [] }: RequestOptions = {},
): Promise<RequestWithKey> {
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const alternatives = names.length === 0 ? [] : [new SubjectAlternativeNameExtension([...names])];
  const request = await Pkcs10CertificateRequestGenerator.create(
    { name: subject, keys, signingAlgorithm: algorithm, extensions: [...alternatives, ...extensions] },
    webcrypto,
  );
  return {
    request: Buffer.from(`${request.toString('pem')}\n`).toString('base64'),
    key: PemConverter.encode(await webcrypto.subtle.exportKey('pkcs8', keys.privateKey), 'PRIVATE KEY'),
  };
}

/** A certificate request for a name, as the field of a CertificateSigningRequest takes it: base64 of PEM. */
export async function makeRequest(name: string): Promise<string> {
  return (await makeRequestWithKey(`CN=${name}`)).request;
}
