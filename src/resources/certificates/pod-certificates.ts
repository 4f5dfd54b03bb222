import type { FieldPath } from '../../object/field-path.ts';
import { checkQualifiedName } from '../../object/text-formats.ts';

/** Rules of certificates of pods, in their requests and in the volumes that they are for. */

const MIN_SECONDS = 3600;
const DAY_SECONDS = 86_400;
const MAX_SECONDS = 91 * DAY_SECONDS;

/** Kubernetes' own signers issue certificates for a day at most. */
const isKubernetesSigner = (signer: string): boolean => /^([^/]+\.)?kubernetes\.io\//.test(signer);

export const lifetimeBounds = (signer: string): readonly [least: number, most: number] => [
  MIN_SECONDS,
  isKubernetesSigner(signer) ? DAY_SECONDS : MAX_SECONDS,
];

export function validateLifetime(at: FieldPath, seconds: number, signer: string): void {
  const [least, most] = lifetimeBounds(signer);
  if (seconds < least || seconds > most) at.invalid(seconds, `must be in the range [${least}, ${most}]`);
}

function mustHaveDomain(at: FieldPath, key: string): void {
  const reasons = checkQualifiedName(key);
  if (key === '') at.required();
  else if (reasons.length > 0) at.invalidFor(key, reasons);
  else if (!key.includes('/')) at.invalid(key, 'must be a domain-prefixed key (such as "acme.io/foo")');
}

const MAX_ANNOTATIONS_BYTES = 256 * 1024;

/** Annotations for a signer: their keys begin with a domain. */
export function mustBeUserAnnotations(
  at: FieldPath,
  annotations: Readonly<Record<string, string>> | undefined = {},
): void {
  let bytes = 0;
  for (const [key, value] of Object.entries(annotations)) {
    mustHaveDomain(at, key.toLowerCase());
    bytes += Buffer.byteLength(key) + Buffer.byteLength(value);
  }
  if (bytes > MAX_ANNOTATIONS_BYTES) at.tooLong(MAX_ANNOTATIONS_BYTES);
}
