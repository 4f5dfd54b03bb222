import type { FieldOutline, StrategyOutline } from '../define.ts';

/** What the events of both groups have in common, which are the same objects: they are selected as they are stored. */

export const EVENT_PATHS: FieldOutline['paths'] = {
  'involvedObject.kind': ['involvedObject.kind'],
  'involvedObject.namespace': ['involvedObject.namespace'],
  'involvedObject.name': ['involvedObject.name'],
  'involvedObject.uid': ['involvedObject.uid'],
  'involvedObject.apiVersion': ['involvedObject.apiVersion'],
  'involvedObject.resourceVersion': ['involvedObject.resourceVersion'],
  'involvedObject.fieldPath': ['involvedObject.fieldPath'],
  reason: ['reason'],
  reportingComponent: ['reportingComponent'],
  type: ['type'],
};

/** Recorders of old put any name they liked; for new events of events.k8s.io there is a stricter rule. */
export const EVENT_STRATEGY: StrategyOutline = {
  nameRule: 'path-segment',
  tracksGeneration: false,
  allowCreateOnUpdate: true,
  allowUnconditionalUpdate: true,
  defaultPropagation: 'unsupported',
  expires: true,
};
