import { authorityOf, type Backend, BackendError } from '../request/backend.ts';

/** What clients and operators know failures of connections by, for the codes of Node and OpenSSL. */
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

export function toBackendError(error: NodeJS.ErrnoException, backend: Backend): BackendError {
  if (error instanceof BackendError) return error;
  const { code = '' } = error;
  const dialing = DIAL_ERRORS[code];
  const target = authorityOf({
    ...backend,
    port: backend.port || (backend.scheme === 'https' ? '443' : '80'),
  });
  if (dialing !== undefined) return new BackendError(`dial tcp ${target}: ${dialing}`, { cause: error });
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') {
    return new BackendError(`dial tcp: lookup ${backend.host}: no such host`, { cause: error });
  }
  const certificate = CERTIFICATE_ERRORS[code];
  if (certificate !== undefined) {
    return new BackendError(`tls: failed to verify certificate: ${certificate}`, { cause: error });
  }
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') {
    const why = `x509: certificate is not valid for ${backend.host}`;
    return new BackendError(`tls: failed to verify certificate: ${why}`, { cause: error });
  }
  // The other side ended the connection before it said anything.
  if (code === 'ECONNRESET' || code === 'EPIPE') return new BackendError('EOF', { cause: error });
  return new BackendError(error.message, { cause: error });
}
