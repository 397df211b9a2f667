import { ANSWER_VALIDATORS } from './contract/support/answer-validators.ts';
import NodeEnvironment from './node-environment.ts';

/** The environment of tests that hold answers to the OpenAPI document: a worker compiles its schemas once for all of their files. */
export default class AnswersEnvironment extends NodeEnvironment {
  override async setup(): Promise<void> {
    await super.setup();
    this.global.answerValidators = ANSWER_VALIDATORS;
  }
}
