import { useEffect, useState } from 'preact/hooks';
import { askJson, isAbort } from '../api/ask.ts';
import { type Kind, pathOf } from '../api/load-kinds.ts';
import { revisionOfObject, stayCurrent } from '../api/stay-current.ts';
import type { ApiObject } from '../model/api-object.ts';
import { noteBegin } from './history-begin.ts';

interface ShownObject {
  /** The last state, which stays after an error. */
  readonly object: ApiObject | undefined;
  readonly error: unknown;
  /** The object was deleted while the page was open. */
  readonly isGone: boolean;
}

interface ObjectQuery {
  readonly kind: Kind;
  readonly namespace: string;
  readonly name: string;
  readonly asOf: string | undefined;
  /** False: it is read again when `version` changes. */
  readonly isFollowed: boolean;
  readonly version: string;
}

const NOTHING: ShownObject = { object: undefined, error: undefined, isGone: false };

/** A live object with updates, or a past one. */
export function useObject(query: ObjectQuery): ShownObject {
  const { kind, namespace, name, asOf, isFollowed } = query;
  const version = isFollowed ? '' : query.version;
  const [state, setState] = useState<ShownObject>(NOTHING);
  useEffect(() => setState(NOTHING), [kind, namespace, name, asOf]);
  useEffect(() => {
    const reading = new AbortController();
    const { signal } = reading;
    let isKept = false;
    const read = async (): Promise<string | undefined> => {
      const object = await askJson<ApiObject>(pathOf(kind, namespace, name), { query: { asOf }, signal });
      isKept = true;
      setState({ object, error: undefined, isGone: false });
      return isFollowed && asOf === undefined && kind.canWatch ? object.metadata.resourceVersion : undefined;
    };
    stayCurrent<ApiObject>({
      ...{ signal, read, keeps: () => isKept },
      onTrouble: (error) => setState((before) => ({ ...before, error })),
      watch: {
        path: pathOf(kind, namespace),
        query: { fieldSelector: `metadata.name=${name}` },
        revisionOf: revisionOfObject,
        deliver: ({ type, object }) => setState({ object, error: undefined, isGone: type === 'DELETED' }),
        onState: () => {},
      },
    }).catch((error: unknown) => {
      if (signal.aborted || isAbort(error)) return;
      noteBegin(error);
      setState((before) => failed(before, error));
    });
    return () => reading.abort();
  }, [kind, namespace, name, asOf, isFollowed, version]);
  return state;
}

/** A missing object that was shown before was deleted while the page was hidden. */
function failed(before: ShownObject, error: unknown): ShownObject {
  const isMissing = typeof error === 'object' && error !== null && 'code' in error && error.code === 404;
  if (before.object === undefined || !isMissing) return { ...before, error };
  return { object: before.object, error: undefined, isGone: true };
}
