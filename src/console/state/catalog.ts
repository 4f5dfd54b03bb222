import { computed, signal } from '@preact/signals';
import { ApiError, askJson, isSignedOut, setToken, token } from '../api/ask.ts';
import { HISTORY_GROUP, type Kind, loadKinds } from '../api/load-kinds.ts';
import { persist } from '../api/persist.ts';
import type { ApiObject } from '../model/api-object.ts';

/** The kind to show when the address names none. */
export const FIRST_KIND = 'pods';

/** The user, kinds and namespaces: loaded once per token. */
export const user = signal('');
export const kinds = signal<readonly Kind[]>([]);
export const namespaces = signal<readonly string[]>([]);
/** The creation of the oldest namespace, in ms since 1970. */
export const clusterBegin = signal<number | undefined>(undefined);
export const failure = signal<unknown>(undefined);
/** False until the kinds are loaded or have failed to load. */
export const isLoaded = signal(false);

export const kindById = computed(() => new Map(kinds.value.map((kind) => [kind.id, kind])));

/** Whether the server also serves changes, besides past states. */
export const hasHistory = computed(() => kinds.value.some(({ group }) => group === HISTORY_GROUP));

/** Counts sign-ins: data of one user is never shown to the next. */
export const session = signal(0);

let loading = new AbortController();

export async function load(): Promise<void> {
  loading.abort();
  loading = new AbortController();
  const { signal } = loading;
  failure.value = undefined;
  try {
    const found = await persist(loadKinds, {
      signal,
      keeps: () => kinds.value.length > 0,
      onTrouble: (error) => {
        failure.value = error;
        isLoaded.value = true;
      },
    });
    if (signal.aborted) return;
    kinds.value = found;
    failure.value = undefined;
    isSignedOut.value = false;
    session.value++;
    void loadUser();
    void loadNamespaces();
  } catch (error) {
    if (signal.aborted) return;
    // A server that admits anonymous users refuses them with 403.
    if (error instanceof ApiError && error.code === 403 && token.value === '') isSignedOut.value = true;
    failure.value = error;
  }
  isLoaded.value = true;
}

export async function signIn(typed: string): Promise<void> {
  setToken(typed.trim());
  await load();
}

export function signOut(): void {
  loading.abort();
  setToken('');
  user.value = '';
  kinds.value = [];
  namespaces.value = [];
  isSignedOut.value = true;
}

async function loadUser(): Promise<void> {
  const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
  const answer = await askJson<{ status?: { userInfo?: { username?: string } } }>(
    'apis/authentication.k8s.io/v1/selfsubjectreviews',
    { method: 'POST', body: review },
  ).catch(() => undefined);
  user.value = answer?.status?.userInfo?.username ?? '';
}

const METADATA_LIST = 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json';

/** Users who may not list namespaces type the name of theirs. */
async function loadNamespaces(): Promise<void> {
  const list = await askJson<{ items: readonly ApiObject[] }>('api/v1/namespaces', {
    accept: METADATA_LIST,
  }).catch(() => undefined);
  const items = list?.items ?? [];
  namespaces.value = items.map(({ metadata }) => metadata.name);
  const made = items
    .map(({ metadata }) => Date.parse(metadata.creationTimestamp ?? ''))
    .filter((at) => at > 0);
  if (made.length > 0) clusterBegin.value = Math.min(...made);
}
