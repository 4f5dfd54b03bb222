import type { ApiObject, JsonObject } from '../../../api/object-meta.ts';
import type { FieldError } from '../../../api/status.ts';
import { equal } from '../../../object/equality.ts';
import { forbiddenField } from '../../../object/field-errors.ts';
import { part, parts, text } from '../../cells.ts';
import { each } from '../../validation/values.ts';
import { validatePodAnnotations } from './annotations.ts';
import { validateImageText } from './containers.ts';
import { validatePodSpec } from './pod-spec.ts';
import { validateProfileAnnotations } from './security-profiles.ts';

/** A pod, new or changed. */
export function validatePod(pod: ApiObject, old?: ApiObject): FieldError[] {
  const spec = part(pod, 'spec');
  const { name = '', annotations = {} } = pod.metadata;
  const errors = validatePodAnnotations(annotations, spec, 'metadata.annotations');
  if (old !== undefined && equal(pod.spec, old.spec)) return errors;
  return [
    ...errors,
    ...validatePodSpec(spec, 'spec', name),
    ...validateTokens(spec),
    ...['containers', 'initContainers'].flatMap((list) =>
      each(parts(spec, list), `spec.${list}`, validateImageText),
    ),
  ];
}

/** A token is of a service account; without one there is nothing to project. */
function validateTokens(spec: JsonObject): FieldError[] {
  if (text(spec.serviceAccountName) !== '') return [];
  return each(parts(spec, 'volumes'), 'spec.volumes', (volume, at) =>
    each(parts(part(volume, 'projected'), 'sources'), `${at}.projected.sources`, (source, sourceAt) =>
      source.serviceAccountToken === undefined
        ? []
        : [
            forbiddenField(
              `${sourceAt}.serviceAccountToken`,
              'must not be specified when serviceAccountName is not set',
            ),
          ],
    ),
  );
}

/** What a pod may become but not begin with. */
export function validateNewPod(pod: ApiObject): FieldError[] {
  const spec = part(pod, 'spec');
  const errors = validateProfileAnnotations(pod.metadata.annotations ?? {}, spec, 'spec');
  if (parts(spec, 'ephemeralContainers').length > 0)
    errors.push(forbiddenField('spec.ephemeralContainers', 'cannot be set on create'));
  if (text(spec.nodeName) !== '' && parts(spec, 'schedulingGates').length > 0) {
    const why = 'cannot be set until all schedulingGates have been cleared';
    errors.push(forbiddenField('spec.nodeName', why));
  }
  return errors;
}
