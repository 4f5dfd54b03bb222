import type { Gates } from '../../api/feature-gates.ts';
import type { ApiObject, JsonObject, ObjectMeta } from '../../api/object-meta.ts';
import { badRequest, conflict, invalid, type StatusError } from '../../api/status.ts';
import type { Binding, Pod } from '../../api/types/core/v1.ts';
import { type FieldPath, problemsOf } from '../../object/field-path.ts';
import type { ActionSubresource } from '../../registry/resource-definition.ts';
import { define } from '../define.ts';
import { withCondition } from './pod-conditions.ts';

/** The old way to place a pod: posted to the namespace, with the pod's name inside. */
export const bindings = define<Binding>({
  group: '',
  resource: 'bindings',
  kind: 'Binding',
  namespaced: true,
  verbs: ['create'],
  versions: [{ version: 'v1', type: 'core/v1.Binding' }],
  actsOn: { resource: { group: '', resource: 'pods' }, subresource: 'binding' },
  strategy: {
    allowUnconditionalUpdate: false,
  },
});

const SUCCESS: JsonObject = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 };

/** A scheduler places a pod: once, and never again. */
export const binding: ActionSubresource<Binding, Pod> = {
  access: 'action',
  name: 'binding',
  served: { group: '', version: 'v1', kind: 'Binding' },
  type: 'core/v1.Binding',
  verbs: ['create'],
  keepsSystemMetadata: () => true,
  create: async (body, context) => {
    if (body.metadata.name !== context.name)
      throw badRequest('name in URL does not match name in Binding object');
    const errors = problemsOf((at) => validateTarget(at.field('target'), body));
    if (errors.length > 0) throw invalid({ kind: 'Binding', group: '' }, context.name, errors);
    await context.update((pod) => bind(pod, body, context.isOn));
    return { code: 201, object: SUCCESS };
  },
};

function validateTarget(at: FieldPath, { target = {} }: Binding): void {
  const { kind = '', name = '' } = target;
  if (kind !== '' && kind !== 'Node') at.field('kind').notSupported(kind, ['Node', '<empty>']);
  if (name === '') at.field('name').required();
}

/** A binding may name the version and the uid of the pod that the scheduler saw: another pod is a conflict. */
function bind(pod: Pod, body: Binding, isOn: Gates): Pod {
  refuseUnplaceable(pod);
  const { uid = '', resourceVersion = '' } = body.metadata;
  const status = { ...pod.status };
  if (isOn('ClearingNominatedNodeNameAfterBinding')) delete status.nominatedNodeName;
  return {
    ...pod,
    metadata: {
      ...pod.metadata,
      ...(uid === '' ? {} : { uid }),
      ...(resourceVersion === '' ? {} : { resourceVersion }),
      ...joined('annotations', pod, body),
      ...(isOn('PodTopologyLabelsAdmission') ? joined('labels', pod, body) : {}),
    },
    spec: { ...pod.spec, nodeName: body.target?.name ?? '' },
    status: withCondition(status, { type: 'PodScheduled', status: 'True' }),
  };
}

/** @throws StatusError 409 */
function refuseUnplaceable({ metadata, spec = {} }: Pod): void {
  const { name = '' } = metadata;
  const { nodeName = '', schedulingGates = [] } = spec;
  const refuse = (why: string): StatusError =>
    conflict({ group: '', resource: 'pods/binding' }, name, `pod ${name} ${why}`);
  if (metadata.deletionTimestamp !== undefined)
    throw refuse('is being deleted, cannot be assigned to a host');
  if (nodeName !== '') throw refuse(`is already assigned to node "${nodeName}"`);
  if (schedulingGates.length > 0) throw refuse('has non-empty .spec.schedulingGates');
}

/** What the scheduler adds wins over what the pod has. */
function joined(field: 'annotations' | 'labels', pod: ApiObject, body: ApiObject): Partial<ObjectMeta> {
  const all = { ...pod.metadata[field], ...body.metadata[field] };
  return Object.keys(all).length === 0 ? {} : { [field]: all };
}
