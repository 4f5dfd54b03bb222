import type { PriorityLevelConfiguration } from '../../api/types/flowcontrol/v1.ts';
import type { Conversion } from '../../registry/definition.ts';

/**
 * flowcontrol/v1beta3 cannot tell zero shares from none given, and takes both for 30. An annotation, seen in this version
 * only, says that zero is meant (Kubernetes: pkg/apis/flowcontrol/v1beta3/conversion.go).
 */
export const KEEP_ZERO_SHARES = 'flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares';

export const DEFAULT_SHARES = 30;

export const priorityLevelV1beta3: Conversion = {
  toStorage: (level: PriorityLevelConfiguration) => {
    const { [KEEP_ZERO_SHARES]: kept, ...annotations } = level.metadata.annotations ?? {};
    const shares = sharesOf(level);
    const meant = shares === 0 && kept === undefined ? DEFAULT_SHARES : shares;
    return withShares(withAnnotations(level, annotations), 'v1', meant);
  },
  fromStorage: (level: PriorityLevelConfiguration) => {
    const shares = sharesOf(level);
    const isZero = level.spec?.limited !== undefined && shares === 0;
    const annotations = { ...level.metadata.annotations, ...(isZero ? { [KEEP_ZERO_SHARES]: '' } : {}) };
    return withShares(withAnnotations(level, annotations), 'v1beta3', shares);
  },
};

const sharesOf = ({ spec }: PriorityLevelConfiguration): number =>
  spec?.limited?.nominalConcurrencyShares ?? 0;

function withAnnotations(
  level: PriorityLevelConfiguration,
  annotations: Record<string, string>,
): PriorityLevelConfiguration {
  const { annotations: _, ...metadata } = level.metadata;
  const hasSome = Object.keys(annotations).length > 0;
  return { ...level, metadata: hasSome ? { ...metadata, annotations } : metadata };
}

function withShares(
  level: PriorityLevelConfiguration,
  version: string,
  nominalConcurrencyShares: number,
): PriorityLevelConfiguration {
  const apiVersion = `flowcontrol.apiserver.k8s.io/${version}`;
  if (level.spec?.limited === undefined) return { ...level, apiVersion };
  const limited = { ...level.spec.limited, nominalConcurrencyShares };
  return { ...level, apiVersion, spec: { ...level.spec, limited } };
}
