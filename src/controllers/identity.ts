import { randomUUID } from 'node:crypto';
import type { ResourceDefinition } from '../registry/definition.ts';
import type { UserInfo } from '../request/api-request.ts';
import type { WriteContext } from '../verbs/writing/change.ts';

/** The user under which the server itself writes, as Kubernetes names it. */
const APISERVER: UserInfo = {
  username: 'system:apiserver',
  uid: '',
  groups: ['system:masters', 'system:authenticated'],
  extra: {},
};

/** Makes the contexts of the server's own writes; `name` is their user agent and field manager. */
export class ControllerIdentity {
  readonly #name: string;

  constructor(name: string) {
    this.#name = name;
  }

  context(definition: ResourceDefinition, namespace: string, subresource = ''): WriteContext {
    return {
      definition,
      version: definition.storage.version,
      subresource,
      namespace,
      dryRun: false,
      user: APISERVER,
      attribution: {
        username: APISERVER.username,
        userAgent: this.#name,
        sourceAddress: '',
        requestId: randomUUID(),
        fieldManager: this.#name,
      },
      ownership: 'leave',
      warn: () => {},
      annotate: () => {},
    };
  }
}
