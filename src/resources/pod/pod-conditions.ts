import type { JsonObject } from '../../api/object-meta.ts';
import { parts } from '../../object/parts.ts';

interface Condition {
  readonly type: string;
  readonly status: 'True' | 'False';
  readonly reason?: string;
  readonly message?: string;
}

/** A pod's status with a condition set. Since when it holds changes only with whether it holds. */
export function withCondition(status: JsonObject, condition: Condition): JsonObject {
  const conditions = parts(status, 'conditions');
  const old = conditions.find(({ type }) => type === condition.type);
  const since = old?.status === condition.status ? old.lastTransitionTime : timestamp();
  const { type, status: holds, ...why } = condition;
  const next: JsonObject = { type, status: holds, lastProbeTime: null, lastTransitionTime: since, ...why };
  return {
    ...status,
    conditions:
      old === undefined ? [...conditions, next] : conditions.map((one) => (one === old ? next : one)),
  };
}

export const hasCondition = (status: JsonObject, type: string): boolean =>
  parts(status, 'conditions').some((condition) => condition.type === type && condition.status === 'True');

export const timestamp = (): string => `${new Date().toISOString().slice(0, 19)}Z`;
