/** Go's words (crypto/tls) for the alerts that a server sends instead of its answer, by number (RFC 8446, section 6). */
const ALERTS: Readonly<Record<string, string>> = {
  10: 'unexpected message',
  20: 'bad record MAC',
  22: 'record overflow',
  40: 'handshake failure',
  42: 'bad certificate',
  43: 'unsupported certificate',
  44: 'revoked certificate',
  45: 'expired certificate',
  46: 'unknown certificate',
  47: 'illegal parameter',
  48: 'unknown certificate authority',
  49: 'access denied',
  50: 'error decoding message',
  51: 'error decrypting message',
  70: 'protocol version not supported',
  71: 'insufficient security level',
  80: 'internal error',
  86: 'inappropriate fallback',
  90: 'user canceled',
  109: 'missing extension',
  110: 'unsupported extension',
  112: 'unrecognized name',
  116: 'certificate required',
  120: 'no application protocol',
};

/**
 * Describes why a TLS handshake failed, in Go's words where it has some. `message` is that of Node, with OpenSSL's line in it:
 * `write EPROTO 40DD61:error:0A000438:SSL routines:ssl3_read_bytes:tlsv1 alert internal error:rec_layer_s3.c:918:SSL alert number 80\n`
 * gives `remote error: tls: internal error`.
 */
export function tlsTrouble(message: string): string | undefined {
  const alert = /:SSL alert number (\d+)/.exec(message)?.[1];
  if (alert !== undefined) return `remote error: tls: ${ALERTS[alert] ?? `alert(${alert})`}`;
  // OpenSSL does not tell which other protocol the server speaks: nearly always HTTP.
  if (/:SSL routines:[^:]*:wrong version number:/.test(message))
    return 'http: server gave HTTP response to HTTPS client';
  const reason = /:SSL routines:[^:]*:([^:]+):/.exec(message)?.[1];
  return reason === undefined ? undefined : `tls: ${reason}`;
}
