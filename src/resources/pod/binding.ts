import type { ApiObject, JsonObject, ObjectMeta } from '../../api/object-meta.ts';
import { badRequest, conflict, type FieldError, invalid, type StatusError } from '../../api/status.ts';
import { notSupported, required } from '../../object/field-errors.ts';
import { part, parts, text } from '../../object/parts.ts';
import type { ActionSubresource } from '../../registry/definition.ts';
import { withCondition } from './pod-conditions.ts';

const SUCCESS: JsonObject = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 };

/** A scheduler places a pod: once, and never again. */
export const binding: ActionSubresource = {
  access: 'action',
  name: 'binding',
  served: { group: '', version: 'v1', kind: 'Binding' },
  type: 'core/v1.Binding',
  verbs: ['create'],
  create: async (body, context) => {
    if (body.metadata.name !== context.name)
      throw badRequest('name in URL does not match name in Binding object');
    const errors = validateTarget(part(body, 'target'));
    if (errors.length > 0) throw invalid({ kind: 'Binding', group: '' }, context.name, errors);
    await context.update((pod) => bind(pod, text(part(body, 'target').name), body));
    return { code: 201, object: SUCCESS };
  },
};

function validateTarget({ kind, name }: JsonObject): FieldError[] {
  return [
    ...(text(kind) === '' || kind === 'Node' ? [] : [notSupported('target.kind', kind, ['Node', '<empty>'])]),
    ...(text(name) === '' ? [required('target.name')] : []),
  ];
}

/** What is written is checked against the version and the identity that the scheduler looked at, where it says which. */
function bind(pod: ApiObject, node: string, body: ApiObject): ApiObject {
  const spec = part(pod, 'spec');
  refuseUnplaceable(pod);
  const { uid = '', resourceVersion = '' } = body.metadata;
  return {
    ...pod,
    metadata: {
      ...pod.metadata,
      ...(uid === '' ? {} : { uid }),
      ...(resourceVersion === '' ? {} : { resourceVersion }),
      ...annotationsOf(pod, body),
    },
    spec: { ...spec, nodeName: node },
    status: withCondition(part(pod, 'status'), { type: 'PodScheduled', status: 'True' }),
  };
}

/** @throws StatusError 409 */
function refuseUnplaceable(pod: ApiObject): void {
  const spec = part(pod, 'spec');
  const name = pod.metadata.name ?? '';
  const refuse = (why: string): StatusError =>
    conflict({ group: '', resource: 'pods/binding' }, name, `pod ${name} ${why}`);
  if (pod.metadata.deletionTimestamp !== undefined)
    throw refuse('is being deleted, cannot be assigned to a host');
  if (text(spec.nodeName) !== '') throw refuse(`is already assigned to node "${text(spec.nodeName)}"`);
  if (parts(spec, 'schedulingGates').length > 0) throw refuse('has non-empty .spec.schedulingGates');
}

function annotationsOf(pod: ApiObject, body: ApiObject): Partial<ObjectMeta> {
  const annotations = { ...pod.metadata.annotations, ...body.metadata.annotations };
  return Object.keys(annotations).length === 0 ? {} : { annotations };
}
