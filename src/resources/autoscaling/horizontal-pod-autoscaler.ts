import { column, define, nameColumn } from '../define.ts';
import { autoscalerCells } from './autoscaler-cells.ts';
import { defaultAutoscaler } from './autoscaler-defaults.ts';
import { autoscalerV1 } from './autoscaler-v1.ts';
import { SCALED_TO_NOTHING, validateAutoscaler, validateAutoscalerStatus } from './validate-autoscaler.ts';

export const horizontalpodautoscalers = define({
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
  validateStatus: validateAutoscalerStatus,
  table: {
    columns: [
      nameColumn(),
      column('Reference'),
      column('Targets'),
      column('MinPods'),
      column('MaxPods'),
      column('Replicas'),
      column('Age'),
    ],
    cells: autoscalerCells,
  },
  ratchets: [SCALED_TO_NOTHING],
  strategy: {
    nameRule: 'dns-subdomain',
    tracksGeneration: false,
    allowCreateOnUpdate: false,
    allowUnconditionalUpdate: true,
    defaults: defaultAutoscaler,
    validate: validateAutoscaler,
  },
});
