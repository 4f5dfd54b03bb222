import type { ApiObject, JsonObject } from '../../api/object-meta.ts';
import { part, parts } from '../../object/parts.ts';

/** Without metrics, CPU at 80% of what is requested. */
export function defaultAutoscaler(autoscaler: ApiObject): void {
  const spec = part(autoscaler, 'spec');
  if (parts(spec, 'metrics').length === 0) {
    const target = { type: 'Utilization', averageUtilization: 80 };
    spec.metrics = [{ type: 'Resource', resource: { name: 'cpu', target } }];
  }
  if (spec.behavior === undefined) return;
  const behavior = part(spec, 'behavior');
  spec.behavior = {
    scaleUp: { ...scaleUpRules(), ...part(behavior, 'scaleUp') },
    scaleDown: { ...scaleDownRules(), ...part(behavior, 'scaleDown') },
  };
}

const PERIOD_SECONDS = 15;

/** Up fast: what there is once more, or four pods, whichever is more. */
const scaleUpRules = (): JsonObject => ({
  stabilizationWindowSeconds: 0,
  selectPolicy: 'Max',
  policies: [
    { type: 'Pods', value: 4, periodSeconds: PERIOD_SECONDS },
    { type: 'Percent', value: 100, periodSeconds: PERIOD_SECONDS },
  ],
});

/** Down all at once, after the time that the controller is configured to wait. */
const scaleDownRules = (): JsonObject => ({
  selectPolicy: 'Max',
  policies: [{ type: 'Percent', value: 100, periodSeconds: PERIOD_SECONDS }],
});
