import type { AuditTrail } from '../request/api-request.ts';

const DECISION = 'authorization.k8s.io/decision';
const REASON = 'authorization.k8s.io/reason';

/** The authorizer's decision. */
interface Verdict {
  readonly decision: string;
  readonly reason: string;
  readonly error?: string | undefined;
}

/** Adds the decision of authorization and its reason to an event. */
export function recordVerdict(
  trail: Pick<AuditTrail, 'annotate'>,
  { decision, reason, error }: Verdict,
): void {
  if (decision !== 'allow' && error !== undefined) {
    trail.annotate(REASON, 'internal error');
    return;
  }
  trail.annotate(DECISION, decision === 'allow' ? 'allow' : 'forbid');
  trail.annotate(REASON, reason);
}
