import { X509Certificate } from 'node:crypto';
import type { ApiObject } from '../../api/object-meta.ts';
import type { FieldError } from '../../api/status.ts';
import { eachInvalid, tooLong } from '../../object/field-errors.ts';
import { checkName } from '../../object/formats.ts';
import { part, text } from '../../object/parts.ts';
import { type PemBlock, pemBlocks } from '../../x509/pem.ts';
import { validateSignerName } from './validate-signer-name.ts';

const MAX_BUNDLE_BYTES = 1024 * 1024;

export function validateTrustBundle(bundle: ApiObject): FieldError[] {
  const spec = part(bundle, 'spec');
  const signer = text(spec.signerName);
  const { name = '' } = bundle.metadata;
  return [
    ...eachInvalid('metadata.name', name, checkBundleName(name, signer)),
    ...(signer === '' ? [] : validateSignerName(signer, 'spec.signerName')),
    ...validateAnchors(text(spec.trustBundle), 'spec.trustBundle'),
  ];
}

/** The bundles of a signer begin with its name, a `:` for the `/`: `example.com:my-signer:first`. */
function checkBundleName(name: string, signer: string): readonly string[] {
  if (signer === '') {
    return name.includes(':')
      ? ['ClusterTrustBundle without signer name must not have ":" in its name']
      : checkName(name, 'dns-subdomain');
  }
  const prefix = `${signer.replaceAll('/', ':')}:`;
  return name.startsWith(prefix)
    ? checkName(name.slice(prefix.length), 'dns-subdomain')
    : [`ClusterTrustBundle for signerName ${signer} must be named with prefix ${prefix}`];
}

function validateAnchors(pem: string, path: string): FieldError[] {
  if (Buffer.byteLength(pem) > MAX_BUNDLE_BYTES) return [tooLong(path, MAX_BUNDLE_BYTES)];
  const blocks = [...pemBlocks(pem)];
  const malformed = blocks.flatMap((block, at) => {
    const why = whyNoAnchor(block);
    return why === undefined ? [] : [`entry ${at} ${why}`];
  });
  const reasons = malformed.length > 0 ? malformed : checkSet(blocks);
  return eachInvalid(path, '<value omitted>', reasons);
}

function whyNoAnchor({ type, hasHeaders, der }: PemBlock): string | undefined {
  if (type !== 'CERTIFICATE') return `has bad block type: ${type}`;
  if (hasHeaders) return 'has PEM block headers';
  try {
    return new X509Certificate(der).ca ? undefined : 'does not have the CA bit set';
  } catch {
    return 'does not parse as X.509';
  }
}

function checkSet(blocks: readonly PemBlock[]): string[] {
  if (blocks.length === 0) return ['at least one trust anchor must be provided'];
  const places = Map.groupBy(blocks.keys(), (at) => blocks[at]?.der.toString('base64'));
  return [...places.values()]
    .filter((at) => at.length > 1)
    .map((at) => `duplicate trust anchor (indices [${at.join(' ')}])`);
}
