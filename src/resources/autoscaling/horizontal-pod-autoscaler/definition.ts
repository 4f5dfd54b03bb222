import type { HorizontalPodAutoscaler, HPAScalingRules } from '../../../api/types/autoscaling/v2.ts';
import { define } from '../../define.ts';
import { checked } from '../../rules/checked.ts';
import { table } from './table.ts';
import { autoscalerV1 } from './v1.ts';
import { SCALED_TO_NOTHING, validate, validateStatus } from './validate.ts';

export const horizontalpodautoscalers = define<HorizontalPodAutoscaler>({
  group: 'autoscaling',
  resource: 'horizontalpodautoscalers',
  kind: 'HorizontalPodAutoscaler',
  namespaced: true,
  shortNames: ['hpa'],
  categories: ['all'],
  versions: [
    { version: 'v2', type: 'autoscaling/v2.HorizontalPodAutoscaler' },
    { version: 'v1', type: 'autoscaling/v1.HorizontalPodAutoscaler', conversion: autoscalerV1 },
  ],
  emptyStatus: { desiredReplicas: 0, currentMetrics: null },
  validateStatus: checked(validateStatus),
  table,
  ratchets: [SCALED_TO_NOTHING],
  strategy: {
    defaults: setDefaults,
    validate: checked(validate),
  },
});

/** Without metrics, CPU at 80% of what is requested. */
function setDefaults({ spec = {} }: HorizontalPodAutoscaler): void {
  const { metrics = [], behavior } = spec;
  if (metrics.length === 0) {
    const target = { type: 'Utilization', averageUtilization: 80 };
    spec.metrics = [{ type: 'Resource', resource: { name: 'cpu', target } }];
  }
  if (behavior === undefined) return;
  spec.behavior = {
    scaleUp: { ...scaleUpRules(), ...behavior.scaleUp },
    scaleDown: { ...scaleDownRules(), ...behavior.scaleDown },
  };
}

const PERIOD_SECONDS = 15;

/** Up fast: what there is once more, or four pods, whichever is more. */
const scaleUpRules = (): HPAScalingRules => ({
  stabilizationWindowSeconds: 0,
  selectPolicy: 'Max',
  policies: [
    { type: 'Pods', value: 4, periodSeconds: PERIOD_SECONDS },
    { type: 'Percent', value: 100, periodSeconds: PERIOD_SECONDS },
  ],
});

/** Down all at once, after the time that the controller is configured to wait. */
const scaleDownRules = (): HPAScalingRules => ({
  selectPolicy: 'Max',
  policies: [{ type: 'Percent', value: 100, periodSeconds: PERIOD_SECONDS }],
});
