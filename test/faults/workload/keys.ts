/**
 * What the run alone writes: a few objects, so that many writes meet at each. Leases, of which no controller makes any here;
 * `holderIdentity` says whose write it is.
 */
export const NAMESPACE = 'faults';
export const PATH = `/apis/coordination.k8s.io/v1/namespaces/${NAMESPACE}/leases`;

export const keysOf = (count: number): string[] => Array.from({ length: count }, (_, n) => `key-${n}`);
