import type { MessageSchema } from '../api/schema.ts';
import type { Authorizer } from '../authz/authorizer.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { ApiRequest } from '../request/api-request.ts';
import type { ApiResponse } from '../request/api-response.ts';
import type { ResourceHandler } from '../verbs/verbs.ts';
import { answerErrors } from './answer-errors.ts';
import { type AuthenticateOptions, authenticate } from './authenticate.ts';
import { authorize } from './authorize.ts';
import { type DocumentHandler, dispatch } from './dispatch.ts';
import { impersonate } from './impersonate.ts';
import { measure } from './measure.ts';

export interface PipelineOptions extends AuthenticateOptions {
  readonly authorizer: Authorizer;
  /** Discovery, OpenAPI, version. */
  readonly documents: DocumentHandler;
  readonly resources: ResourceHandler;
  /** meta/v1 Status, for clients that read protobuf. */
  readonly statusSchema: MessageSchema;
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
        const authenticated = await authenticate(options, request);
        const acting = await impersonate(options, authenticated);
        const authorized = await authorize(options, acting);
        return dispatch(options, authorized);
      }),
    );
}
