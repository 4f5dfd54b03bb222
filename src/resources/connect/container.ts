import type { ApiObject } from '../../api/object-meta.ts';
import { badRequest } from '../../api/status.ts';
import { part, parts, text } from '../../object/parts.ts';
import { containersOf } from '../pod/containers-of.ts';

/** The container that is meant; only a pod with one need not be told. @throws StatusError 400 */
export function chooseContainer(pod: ApiObject, asked: string): string {
  const spec = part(pod, 'spec');
  const name = text(pod.metadata.name);
  const all = containersOf(spec).map(({ container }) => text(container.name));
  if (asked !== '') {
    if (all.includes(asked)) return asked;
    throw badRequest(`container ${asked} is not valid for pod ${name}`);
  }
  const [only, ...others] = parts(spec, 'containers');
  if (only !== undefined && others.length === 0) return text(only.name);
  const choices = only === undefined ? '' : `, choose one of: [${all.join(' ')}]`;
  throw badRequest(`a container name must be specified for pod ${name}${choices}`);
}
