import type { IncomingMessage, ServerResponse } from 'node:http';

import type { AwsError } from './errors.ts';
import { errorAnswer, sendJsonAnswer } from './json-protocol.ts';
import { element, sendXml } from './s3/xml.ts';

/** Answers an error in the request's protocol: the query protocol's XML for a form, else JSON. */
export const sendProtocolError = (
  request: IncomingMessage,
  response: ServerResponse,
  error: AwsError,
): void => {
  if (!request.headers['content-type']?.startsWith('application/x-www-form-urlencoded')) {
    response.setHeader('x-amzn-errortype', error.code);
    sendJsonAnswer(response, errorAnswer(error));
    return;
  }
  const details = `<Type>Sender</Type>${element('Code', error.code)}${element('Message', error.message)}`;
  sendXml(response, error.status, `<ErrorResponse><Error>${details}</Error></ErrorResponse>`);
};
