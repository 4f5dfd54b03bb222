/** PEM (RFC 7468). Text between blocks is skipped, as OpenSSL and Go do. */
export interface PemBlock {
  readonly label: string;
  readonly hasHeaders: boolean;
  readonly der: Buffer;
}

const BEGIN = /-----BEGIN ([^\r\n-]+)-----\r?\n/g;
const HEADER = /^[^\r\n:]*:[^\r\n]*\r?\n/;
/** What begins so often is looked at no further: each time the end of the text may have to be searched. */
const MAX_BLOCKS = 100;

/** Blocks whose content is no base64 do not count. */
export function parsePem(pem: string): PemBlock[] {
  const blocks: PemBlock[] = [];
  let end = 0;
  let count = 0;
  for (const { 0: begin, 1: label = '', index } of pem.matchAll(BEGIN)) {
    count += 1;
    if (count > MAX_BLOCKS) break;
    const from = index + begin.length;
    const to = index < end ? -1 : pem.indexOf(`-----END ${label}-----`, from);
    if (to < 0) continue;
    end = to;
    const block = toBlock(label, pem.slice(from, to));
    if (block !== undefined) blocks.push(block);
  }
  return blocks;
}

function toBlock(label: string, body: string): PemBlock | undefined {
  let rest = body;
  for (let header = HEADER.exec(rest); header !== null; header = HEADER.exec(rest))
    rest = rest.slice(header[0].length);
  const base64 = rest.replace(/\s/g, '');
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(base64)) return undefined;
  return { label, hasHeaders: rest.length < body.length, der: Buffer.from(base64, 'base64') };
}
