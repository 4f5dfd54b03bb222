import type { ApiObject } from '../../api/object-meta.ts';
import { count, part } from '../../object/parts.ts';
import type { Conversion } from '../../registry/definition.ts';
import { has } from '../validation/fields.ts';

/**
 * flowcontrol/v1beta3 cannot tell zero shares from none given, and takes both for 30. An annotation, seen in this version
 * only, says that zero is meant (Kubernetes: pkg/apis/flowcontrol/v1beta3/conversion.go).
 */
export const KEEP_ZERO_SHARES = 'flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares';

export const DEFAULT_SHARES = 30;

export const priorityLevelV1beta3: Conversion = {
  toStorage: (level) => {
    const { [KEEP_ZERO_SHARES]: kept, ...annotations } = level.metadata.annotations ?? {};
    const limited = part(level, 'spec', 'limited');
    const shares = count(limited.nominalConcurrencyShares);
    const means = shares === 0 && kept === undefined ? DEFAULT_SHARES : shares;
    return withShares(withAnnotations(level, annotations), 'v1', means);
  },
  fromStorage: (level) => {
    const limited = part(level, 'spec', 'limited');
    const shares = count(limited.nominalConcurrencyShares);
    const zero = has(part(level, 'spec'), 'limited') && shares === 0;
    const annotations = { ...level.metadata.annotations, ...(zero ? { [KEEP_ZERO_SHARES]: '' } : {}) };
    return withShares(withAnnotations(level, annotations), 'v1beta3', shares);
  },
};

function withAnnotations(level: ApiObject, annotations: Record<string, string>): ApiObject {
  const { annotations: _, ...metadata } = level.metadata;
  const some = Object.keys(annotations).length > 0;
  return { ...level, metadata: some ? { ...metadata, annotations } : metadata };
}

function withShares(level: ApiObject, version: string, nominalConcurrencyShares: number): ApiObject {
  const spec = part(level, 'spec');
  const apiVersion = `flowcontrol.apiserver.k8s.io/${version}`;
  if (!has(spec, 'limited')) return { ...level, apiVersion };
  const limited = { ...part(spec, 'limited'), nominalConcurrencyShares };
  return { ...level, apiVersion, spec: { ...spec, limited } };
}
