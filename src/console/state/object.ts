import { useEffect, useState } from 'preact/hooks';
import { ApiError, askJson, isAbort } from '../api/client.ts';
import { type Kind, pathOf } from '../api/kinds.ts';
import { follow, revisionOfObject } from '../api/watch.ts';
import type { ApiObject } from '../model/json.ts';
import { noteBegin } from './reach.ts';

export interface ShownObject {
  readonly object: ApiObject | undefined;
  readonly error: unknown;
  /** It was there while the page was open. */
  readonly isGone: boolean;
}

/** An object now, followed, or as it was. */
export function useObject(
  kind: Kind,
  namespace: string,
  name: string,
  asOf: string | undefined,
): ShownObject {
  const [state, setState] = useState<ShownObject>({ object: undefined, error: undefined, isGone: false });
  useEffect(() => {
    const reading = new AbortController();
    const { signal } = reading;
    const read = async (): Promise<void> => {
      for (;;) {
        const object = await askJson<ApiObject>(pathOf(kind, namespace, name), { query: { asOf }, signal });
        setState({ object, error: undefined, isGone: false });
        if (asOf !== undefined || !kind.canWatch) return;
        await follow<ApiObject>({
          path: pathOf(kind, namespace),
          query: { fieldSelector: `metadata.name=${name}` },
          from: object.metadata.resourceVersion,
          signal,
          revisionOf: revisionOfObject,
          deliver: ({ type, object: changed }) =>
            setState({ object: changed, error: undefined, isGone: type === 'DELETED' }),
          onState: () => {},
        });
        if (signal.aborted) return;
      }
    };
    read().catch((error: unknown) => {
      if (signal.aborted || isAbort(error)) return;
      noteBegin(error);
      // A watch that is refused leaves what was read.
      const mayNotWatch = error instanceof ApiError && error.code === 403;
      setState((before) =>
        mayNotWatch && before.object !== undefined ? before : { object: undefined, error, isGone: false },
      );
    });
    return () => reading.abort();
  }, [kind, namespace, name, asOf]);
  return state;
}
