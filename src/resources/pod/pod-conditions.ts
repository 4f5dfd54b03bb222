import type { PodCondition, PodStatus } from '../../api/types/core/v1.ts';
import { toTimestamp } from '../../object/timestamps.ts';

interface NewCondition {
  readonly type: string;
  readonly status: 'True' | 'False';
  readonly reason?: string;
  readonly message?: string;
}

/** A pod's status with a condition set. Since when it holds changes only with whether it holds. */
export function withCondition(status: PodStatus, condition: NewCondition): PodStatus {
  const { conditions = [] } = status;
  const old = conditions.find(({ type }) => type === condition.type);
  const since = old?.status === condition.status ? old.lastTransitionTime : undefined;
  const { type, status: holds, ...why } = condition;
  const next: PodCondition = {
    type,
    status: holds,
    lastProbeTime: null,
    lastTransitionTime: since ?? timestamp(),
    ...why,
  };
  return {
    ...status,
    conditions:
      old === undefined ? [...conditions, next] : conditions.map((one) => (one === old ? next : one)),
  };
}

export const hasCondition = ({ conditions = [] }: PodStatus, type: string): boolean =>
  conditions.some((condition) => condition.type === type && condition.status === 'True');

export const timestamp = (): string => toTimestamp(new Date());
