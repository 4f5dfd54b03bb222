import { X509Certificate } from 'node:crypto';
import { certificatesIn } from './pem.ts';

/** Checks the certificates for verifying a webhook, in base64 as in objects. Returns undefined for a valid or absent bundle. */
export function bundleProblem(bundle: string): string | undefined {
  if (bundle === '') return undefined;
  const certificates = certificatesIn(Buffer.from(bundle, 'base64').toString('latin1'));
  const why = 'unable to load root certificates: unable to parse bytes as PEM block';
  try {
    return certificates.map((der) => new X509Certificate(der)).length > 0 ? undefined : why;
  } catch {
    return why;
  }
}
