import type { ApiObject, JsonObject, ObjectMeta } from '../api/object-meta.ts';
import type { StatusError } from '../api/status.ts';
import { invalid } from '../api/status.ts';
import { type ReviewSelectors, validateSelectors } from '../authz/review-selectors.ts';
import { type FieldPath, problemsOf } from '../object/field-path.ts';
import { isObject } from '../object/json-values.ts';

/** Rules of access reviews (Kubernetes: pkg/apis/authorization/validation). */

/** `subject`: the review names the user. `local`: its namespace is that of the question. */
export type ReviewForm = 'self' | 'subject' | 'local';

/** @throws StatusError 422 */
export function checkReview(body: ApiObject, form: ReviewForm): void {
  const spec = isObject(body.spec) ? body.spec : {};
  const errors = problemsOf((at) => {
    const place = at.field('spec');
    validateQuestion(place, spec);
    if (form !== 'self') validateSubject(place, spec);
    validateQuestionSelectors(place.field('resourceAttributes'), spec);
    validateMetadata(at.field('metadata'), body.metadata, form);
    if (form === 'local') validateLocal(place, spec, body.metadata);
  });
  if (errors.length > 0) throw refusalOf(errors);
}

/** Kubernetes has no kind here: the decoded object has none. */
const refusalOf = (errors: Parameters<typeof invalid>[2]): StatusError =>
  invalid({ kind: '', group: 'authorization.k8s.io' }, '', errors);

function validateQuestion(
  at: FieldPath,
  { resourceAttributes: resource, nonResourceAttributes: path }: JsonObject,
): void {
  if (isObject(resource) && isObject(path))
    at.field('nonResourceAttributes').invalid(
      internalForm(path),
      'cannot be specified in combination with resourceAttributes',
    );
  if (!isObject(resource) && !isObject(path))
    at.field('resourceAttributes').invalid(
      null,
      'exactly one of nonResourceAttributes or resourceAttributes must be specified',
    );
}

/** Kubernetes prints the type that it decodes to. */
const internalForm = ({ path = '', verb = '' }: JsonObject): JsonObject => ({ Path: path, Verb: verb });

function validateSubject(at: FieldPath, { user = '', groups }: JsonObject): void {
  if (user === '' && !(Array.isArray(groups) && groups.length > 0))
    at.field('user').invalid('', 'at least one of user or group must be specified');
}

function validateQuestionSelectors(at: FieldPath, { resourceAttributes }: JsonObject): void {
  // The type of the review has decoded it.
  if (isObject(resourceAttributes)) validateSelectors(at, resourceAttributes as ReviewSelectors);
}

function validateMetadata(at: FieldPath, metadata: ObjectMeta, form: ReviewForm): void {
  const { managedFields: _, namespace: __, ...others } = metadata;
  const isEmpty = Object.values(others).every(isNothing);
  if (!isEmpty)
    at.invalid(metadata, form === 'local' ? 'must be empty except for namespace' : 'must be empty');
}

const isNothing = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  value === '' ||
  value === 0 ||
  (typeof value === 'object' && Object.keys(value).length === 0);

function validateLocal(at: FieldPath, spec: JsonObject, { namespace = '' }: ObjectMeta): void {
  const { resourceAttributes: resource, nonResourceAttributes: path } = spec;
  const { namespace: asked = '' } = isObject(resource) ? resource : { namespace };
  if (asked !== namespace)
    at.field('resourceAttributes.namespace').invalid(asked, 'must match metadata.namespace');
  if (isObject(path))
    at.field('nonResourceAttributes').invalid(internalForm(path), 'disallowed on this kind of request');
}
