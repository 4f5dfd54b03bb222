import type { MessageSchema } from '../api/schema.ts';
import type { Auditor } from '../audit/auditor.ts';
import type { Authenticator } from '../authn/authenticator.ts';
import type { Authorizer } from '../authz/authorizer.ts';
import type { Logger } from '../observability/logger.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { ApiRequest } from '../request/api-request.ts';
import type { ApiResponse } from '../request/api-response.ts';
import type { ResourceHandler } from '../verbs/verbs.ts';
import { answerErrors } from './answer-errors.ts';
import { audit, auditAuthentication } from './audit.ts';
import { authenticate } from './authenticate.ts';
import { authorize } from './authorize.ts';
import { type DocumentHandler, dispatch } from './dispatch.ts';
import { measure } from './measure.ts';

export interface PipelineOptions {
  readonly authenticator: Authenticator;
  /** --anonymous-auth */
  readonly anonymous: boolean;
  readonly authorizer: Authorizer;
  /** Undefined: nothing is recorded. */
  readonly auditor: Auditor | undefined;
  /** Discovery, OpenAPI, version. */
  readonly documents: DocumentHandler;
  readonly resources: ResourceHandler;
  /** meta/v1 Status, for clients that read protobuf. */
  readonly statusSchema: MessageSchema;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/** Never rejects: whatever goes wrong becomes a Status. */
export type Pipeline = (request: ApiRequest) => Promise<ApiResponse>;

/**
 * What a request passes, from the outermost stage to the verb. A stage that needs to see the answer too takes the rest of
 * the way as a function.
 */
export function createPipeline(options: PipelineOptions): Pipeline {
  return (request) =>
    measure(options, request, () =>
      answerErrors(options, request, async () => {
        const authenticated = await auditAuthentication(options, request, () =>
          authenticate(options, request),
        );
        return audit(options, authenticated, async () => {
          const authorized = await authorize(options, authenticated);
          return dispatch(options, authorized);
        });
      }),
    );
}
