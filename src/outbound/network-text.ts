/** Go's texts for the error codes of Node and OpenSSL, which clients and operators know. */
const DIAL_ERRORS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connect: connection refused',
  EHOSTUNREACH: 'connect: no route to host',
  ENETUNREACH: 'connect: network is unreachable',
  EADDRNOTAVAIL: 'connect: cannot assign requested address',
  ETIMEDOUT: 'i/o timeout',
};

const CERTIFICATE_ERRORS: Readonly<Record<string, string>> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: 'x509: certificate signed by unknown authority',
  SELF_SIGNED_CERT_IN_CHAIN: 'x509: certificate signed by unknown authority',
  UNABLE_TO_GET_ISSUER_CERT: 'x509: certificate signed by unknown authority',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'x509: certificate signed by unknown authority',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'x509: certificate signed by unknown authority',
  CERT_SIGNATURE_FAILURE: 'x509: certificate signed by unknown authority',
  CERT_HAS_EXPIRED: 'x509: certificate has expired or is not yet valid',
  CERT_NOT_YET_VALID: 'x509: certificate has expired or is not yet valid',
};

interface Dialed {
  readonly host: string;
  /** `host:port` */
  readonly authority: string;
}

/** Describes a failed connection in Go's words. */
export function networkText(
  { code = '', message }: NodeJS.ErrnoException,
  { host, authority }: Dialed,
): string {
  const dialing = DIAL_ERRORS[code];
  if (dialing !== undefined) return `dial tcp ${authority}: ${dialing}`;
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return `dial tcp: lookup ${host}: no such host`;
  const certificate = CERTIFICATE_ERRORS[code];
  if (certificate !== undefined) return `tls: failed to verify certificate: ${certificate}`;
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return `tls: failed to verify certificate: x509: certificate is not valid for ${host}`;
  // The other side ended the connection before it said anything.
  return code === 'ECONNRESET' || code === 'EPIPE' ? 'EOF' : message;
}
