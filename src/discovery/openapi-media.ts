/** Media types as documents list them. Kubernetes lists JSON and YAML alone for custom resources. */

const TEXTUAL = ['application/json', 'application/yaml'];
const PROTOBUF = 'application/vnd.kubernetes.protobuf';
const STRATEGIC = 'application/strategic-merge-patch+json';
const PATCHES = ['application/json-patch+json', 'application/merge-patch+json', STRATEGIC];

interface Known {
  readonly cbor: boolean;
}

export const BUILT_IN_TYPES = [...TEXTUAL, PROTOBUF];

/** The media types of answers with objects. */
export function objectTypes({ cbor }: Known, isCustom: boolean): readonly string[] {
  if (isCustom) return TEXTUAL;
  return cbor ? [...BUILT_IN_TYPES, 'application/cbor'] : BUILT_IN_TYPES;
}

/** The media types of lists, which may be watched. */
export function listTypes(known: Known, isCustom: boolean): readonly string[] {
  const types = objectTypes(known, isCustom);
  if (isCustom) return types;
  const streams = ['application/json;stream=watch', `${PROTOBUF};stream=watch`];
  return [...types, ...streams, ...(known.cbor ? ['application/cbor-seq'] : [])];
}

/** The media types of the bodies of requests. */
export const bodyTypes = (isCustom: boolean): readonly string[] => (isCustom ? TEXTUAL : ['*/*']);

export function patchTypes({ cbor }: Known, isCustom: boolean): readonly string[] {
  if (isCustom) return [...PATCHES.filter((type) => type !== STRATEGIC), 'application/apply-patch+yaml'];
  const types = [...PATCHES, 'application/apply-patch+yaml'];
  return cbor ? [...types, 'application/apply-patch+cbor'] : types;
}
