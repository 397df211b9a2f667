import type { MockIntegration } from '../template/api.ts';
import type { Answer } from './answer.ts';
import { type ExpressionContext, mapHeaders, renderTemplate } from './expressions.ts';
import type { GatewayResponseType } from './gateway-response.ts';
import { mediaTypeOf } from './media-types.ts';

/** The status in a rendered request template. API Gateway accepts loose JSON here, such as `{ statusCode: 204 }`. */
const chosenStatus = (text: string): string | undefined =>
  /["']?statusCode["']?\s*:\s*["']?(\d{3})/.exec(text)?.[1];

/**
 * A mock integration's answer, or the gateway's own error. `passthroughBehavior` decides whether a request whose content type has no
 * template is refused or passed through.
 */
export const mockAnswer = (
  integration: MockIntegration,
  request: { contentType: string | undefined; body: Buffer },
  context: ExpressionContext,
): Answer | GatewayResponseType => {
  const { requestTemplates, passthroughBehavior } = integration;
  const template = requestTemplates[mediaTypeOf(request.contentType) ?? 'application/json'];
  const hasTemplates = Object.keys(requestTemplates).length > 0;
  const isRefused =
    passthroughBehavior === 'NEVER' || (passthroughBehavior === 'WHEN_NO_TEMPLATES' && hasTemplates);
  if (template === undefined && isRefused) return 'UNSUPPORTED_MEDIA_TYPE';

  const status = chosenStatus(
    template === undefined ? request.body.toString() : renderTemplate(template, context),
  );
  if (status === undefined) return 'API_CONFIGURATION_ERROR';
  const response =
    integration.responses.find(
      ({ selectionPattern }) => selectionPattern && new RegExp(`^(?:${selectionPattern})$`).test(status),
    ) ?? integration.responses.find(({ selectionPattern }) => !selectionPattern);
  if (!response) return 'API_CONFIGURATION_ERROR';

  const [contentType, text] = Object.entries(response.templates)[0] ?? ['application/json', ''];
  return {
    statusCode: response.statusCode,
    headers: { 'Content-Type': contentType, ...mapHeaders(response.headers, context) },
    body: Buffer.from(renderTemplate(text, context)),
  };
};
