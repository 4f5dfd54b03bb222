import { createRequire } from 'node:module';
import type { Pkcs10CertificateRequest } from '@peculiar/x509';

const require = createRequire(import.meta.url);

/**
 * A PKCS#10 request (RFC 2986), as DER or PEM. The library is 230 modules, a tenth of all that a start would load: it is loaded
 * with the first request to be read. @throws Error when it is none
 */
export function parseCertificationRequest(source: Buffer | string): Pkcs10CertificateRequest {
  require('reflect-metadata');
  const library = require('@peculiar/x509') as typeof import('@peculiar/x509');
  return new library.Pkcs10CertificateRequest(source);
}
