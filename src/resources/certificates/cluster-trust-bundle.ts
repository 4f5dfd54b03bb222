import { X509Certificate } from 'node:crypto';
import type { ClusterTrustBundle } from '../../api/types/certificates/v1alpha1.ts';
import type { FieldPath } from '../../object/field-path.ts';
import { checkName } from '../../object/text-formats.ts';
import { type PemBlock, pemBlocks } from '../../x509/pem.ts';
import { NONE } from '../cells.ts';
import { column, define, nameColumn } from '../define.ts';
import { checked } from '../rules/checked.ts';
import { mustBeSignerName } from './certificate-signing-request.ts';

export const clustertrustbundles = define<ClusterTrustBundle>({
  group: 'certificates.k8s.io',
  resource: 'clustertrustbundles',
  kind: 'ClusterTrustBundle',
  namespaced: false,
  versions: [
    {
      version: 'v1beta1',
      type: 'certificates/v1beta1.ClusterTrustBundle',
      enabledByDefault: false,
      gate: 'ClusterTrustBundle',
      since: 33,
    },
    {
      version: 'v1alpha1',
      type: 'certificates/v1alpha1.ClusterTrustBundle',
      enabledByDefault: false,
      gate: 'ClusterTrustBundle',
    },
  ],
  storedVersion: 'v1alpha1',
  table: {
    columns: [nameColumn(), column('SignerName')],
    cells: ({ metadata, spec }) => [metadata.name ?? '', spec?.signerName || NONE],
  },
  fields: {
    paths: {
      'spec.signerName': ['spec.signerName'],
    },
  },
  strategy: {
    nameRule: 'path-segment',
    allowUnconditionalUpdate: false,
    validate: checked(validate),
  },
});

function validate(
  root: FieldPath,
  { metadata, spec = {} }: ClusterTrustBundle,
  old?: ClusterTrustBundle,
): void {
  const at = root.field('spec');
  const { name = '' } = metadata;
  const { signerName = '', trustBundle = '' } = spec;
  root.field('metadata').field('name').invalidFor(name, checkBundleName(name, signerName));
  if (signerName !== '') mustBeSignerName(at.field('signerName'), signerName);
  // Another parser of certificates may have taken those that are stored.
  if (trustBundle !== old?.spec?.trustBundle) validateAnchors(at.field('trustBundle'), trustBundle);
}

/** The bundles of a signer begin with its name, a `:` for the `/`: `example.com:my-signer:first`. */
export function checkBundleName(name: string, signer: string): readonly string[] {
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

const MAX_BUNDLE_BYTES = 1024 * 1024;

function validateAnchors(at: FieldPath, pem: string): void {
  if (Buffer.byteLength(pem) > MAX_BUNDLE_BYTES) {
    at.tooLong(MAX_BUNDLE_BYTES);
    return;
  }
  const blocks = [...pemBlocks(pem)];
  const malformed = blocks.flatMap((block, index) => {
    const problem = anchorProblem(block);
    return problem === undefined ? [] : [`entry ${index} ${problem}`];
  });
  at.invalidFor('<value omitted>', malformed.length > 0 ? malformed : checkSet(blocks));
}

function anchorProblem({ type, hasHeaders, der }: PemBlock): string | undefined {
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
  const places = Map.groupBy(blocks.keys(), (index) => blocks[index]?.der.toString('base64'));
  return [...places.values()]
    .filter((indices) => indices.length > 1)
    .map((indices) => `duplicate trust anchor (indices [${indices.join(' ')}])`);
}
