import type { FrameWords } from './en.ts';

const words: FrameWords = {
  sees: (customer) => `${customer} の画面`,
  readOnly: '読み取り専用です。ここでは何も変更できません。閲覧したことは監査ログに残ります。',
  frame: 'ウィジェット',
  language: '言語',
  automatic: 'ブラウザーと同じ',
  scheme: 'テーマ',
  schemes: { auto: 'システムと同じ', light: 'ライト', dark: 'ダーク' },
  notLoaded: 'ウィジェットを読み込めませんでした。接続を確認して、もう一度お試しください。',
  refused: 'この表示は受け付けられなくなりました。もう一度お試しください。',
  ended: 'セッションが終了したため、この表示も終了しました。',
  preview: 'プレビュー',
  draft: 'このテンプレートについて新しい顧客に表示される内容です。保存されていません。',
  lastGood: 'この下書きは表示できません。最後に表示できた内容を表示しています。',
  notYet: 'この下書きはまだ表示できません。',
};

export default words;
