/** PEM (RFC 7468). Text between blocks is skipped, as OpenSSL and Go do. */
export interface PemBlock {
  readonly label: string;
  readonly hasHeaders: boolean;
  readonly der: Buffer;
}

const BLOCK = /-----BEGIN ([^\r\n-]+)-----\r?\n([\s\S]*?)-----END \1-----/g;

/** Blocks whose content is no base64 do not count. */
export function parsePem(pem: string): PemBlock[] {
  return [...pem.matchAll(BLOCK)].flatMap(([, label = '', body = '']) => {
    const headers = /^(?:[^\r\n]*:[^\r\n]*\r?\n)+\r?\n?/.exec(body)?.[0] ?? '';
    const base64 = body.slice(headers.length).replace(/\s/g, '');
    if (!/^[A-Za-z0-9+/]+={0,2}$/.test(base64)) return [];
    return [{ label, hasHeaders: headers !== '', der: Buffer.from(base64, 'base64') }];
  });
}
