import type { ApiObject, JsonObject, JsonValue } from '../../../api/object-meta.ts';
import { objectOf, objectsOf, part, text } from '../../../object/parts.ts';
import { listOf } from '../pod-specs.ts';

const ANNOTATION = 'kubernetes.io/limit-ranger';

/** Gives the containers of a pod what a LimitRange says for those that do not say; an annotation tells what was given. */
export function giveDefaults(pod: ApiObject, limitRange: JsonObject): void {
  const defaults = defaultsOf(limitRange);
  const spec = part(pod, 'spec');
  const given = [
    ...listOf(spec, 'containers').flatMap((container) => complete(container, 'container', defaults)),
    ...listOf(spec, 'initContainers').flatMap((container) => complete(container, 'init container', defaults)),
  ];
  if (given.length === 0) return;
  pod.metadata.annotations = {
    ...pod.metadata.annotations,
    [ANNOTATION]: `LimitRanger plugin set: ${given.join('; ')}`,
  };
}

interface Defaults {
  readonly requests: JsonObject;
  readonly limits: JsonObject;
}

function defaultsOf(limitRange: JsonObject): Defaults {
  const limits = objectsOf(part(limitRange, 'spec').limits).filter(({ type }) => type === 'Container');
  const all = (of: string): JsonObject => Object.assign({}, ...limits.map((limit) => objectOf(limit[of])));
  return { requests: all('defaultRequest'), limits: all('default') };
}

/** Answers what was given, as the annotation tells it. */
function complete(container: JsonObject, kind: string, defaults: Defaults): string[] {
  return (['requests', 'limits'] as const).flatMap((of) => {
    const held = objectOf(objectOf(container.resources)[of]);
    const missing = Object.entries(defaults[of]).filter(([name]) => held[name] === undefined);
    if (missing.length === 0) return [];
    const resources: Record<string, JsonValue | undefined> = { ...objectOf(container.resources) };
    resources[of] = { ...held, ...Object.fromEntries(missing) };
    container.resources = resources as JsonObject;
    const names = missing.map(([name]) => name).sort();
    return [`${names.join(', ')} ${of.slice(0, -1)} for ${kind} ${text(container.name)}`];
  });
}
