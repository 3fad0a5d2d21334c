// The texts of the page, in the language of the browser.

const EN = {
  skip: "Skip to the message box",
  log: "Conversation",
  message: "Message",
  hint: "Write a message",
  send: "Send",
  attach: "Add files",
  commands: "Commands",
  files: "Files to send",
  drop: "Drop files to send them",
  latest: "Latest",
  typing: "Parley is writing",
  welcome: "Write to Parley",
  welcome_more: "It answers here, and shows what it does while it works.",
  ideas: ["Remind me in 1 minute to stretch", "What is 17 × 23?", "Book a flight to Tokyo", "/help"],
  demo: "Demo model, no AI",
  lost: "Connection lost, reconnecting…",
  refused: "This browser is not let in any more. Open the last link that Parley has printed on its console.",
  you: "You",
  parley: "Parley",
  sending: "Sending…",
  failed: "Not sent",
  waits: "Not sent yet. It goes as soon as Parley can be reached.",
  retry: "Try again",
  discard: "Discard",
  remove: (name) => `Remove ${name}`,
  uploading: (percent) => `${percent} %`,
  upload_failed: "not uploaded",
  too_many: (most) => `At most ${most} files go with one message.`,
  wait_files: "The files are still on their way.",
  broken_files: "Some files were not uploaded: try again or remove them.",
  reasoning: "Reasoning",
  copy: "Copy",
  copied: "Copied",
  today: "Today",
  yesterday: "Yesterday",
  press_failed: "That did not arrive. Try again.",
};

const ZH = {
  skip: "跳到输入框",
  log: "对话",
  message: "消息",
  hint: "输入消息",
  send: "发送",
  attach: "添加文件",
  commands: "命令",
  files: "待发送的文件",
  drop: "松开即可发送文件",
  latest: "最新",
  typing: "Parley 正在输入",
  welcome: "给 Parley 写点什么",
  welcome_more: "它会在这里回答，并在工作时展示进展。",
  ideas: ["1分钟后提醒我活动一下", "17 × 23 等于多少？", "我想订一张去东京的机票", "/help"],
  demo: "演示模型，并非人工智能",
  lost: "连接已断开，正在重新连接…",
  refused: "此浏览器不再被允许访问。请打开 Parley 在控制台最后打印的链接。",
  you: "你",
  parley: "Parley",
  sending: "正在发送…",
  failed: "未发送",
  waits: "尚未发送，恢复连接后会自动发出。",
  retry: "重试",
  discard: "放弃",
  remove: (name) => `移除 ${name}`,
  uploading: (percent) => `${percent}%`,
  upload_failed: "上传失败",
  too_many: (most) => `一条消息最多附带 ${most} 个文件。`,
  wait_files: "文件仍在上传。",
  broken_files: "有文件上传失败：请重试或移除。",
  reasoning: "思考过程",
  copy: "复制",
  copied: "已复制",
  today: "今天",
  yesterday: "昨天",
  press_failed: "操作未送达，请重试。",
};

export const chinese = navigator.language.toLowerCase().startsWith("zh");
export const words = chinese ? ZH : EN;

export function translatePage() {
  document.documentElement.lang = chinese ? "zh" : "en";
  for (const node of document.querySelectorAll("[data-t]")) node.textContent = words[node.dataset.t];
  for (const node of document.querySelectorAll("[data-t-label]")) node.ariaLabel = words[node.dataset.tLabel];
  for (const node of document.querySelectorAll("[data-t-hint]")) node.placeholder = words[node.dataset.tHint];
}

export function element(tag, properties = {}, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}
