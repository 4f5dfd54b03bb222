import type { Live, Target } from './import-target.ts';
import type { Shapes } from './shapes.ts';

/**
 * Custom resources may come without their definitions, which the target has: an export of one namespace has none.
 * @throws StorageError
 */
export async function learnDefinitions(
  shapes: Shapes,
  live: ReadonlyMap<string, Live>,
  target: Pick<Target, 'get'>,
): Promise<void> {
  for (const { key } of live.values()) {
    if (key.group !== 'apiextensions.k8s.io' || key.resource !== 'customresourcedefinitions') continue;
    const stored = await target.get(key);
    if (stored !== undefined) shapes.learn([stored.json]);
  }
}
